! What became of a call: the statuses of tca/tca.h, ierror, and what is said where a program does not ask for it.
module opentca_errors
  use, intrinsic :: iso_c_binding
  use, intrinsic :: iso_fortran_env, only: error_unit, int64
  use opentca_calls
  implicit none
  private
  public :: tca_error, tca_fail, tca_last_error, tca_last_message, tca_library_version, tca_status_name
  public :: settle, settle_test, settle_text, terminated

  integer, parameter, public :: tca_ok = 0
  integer, parameter, public :: tca_unfinished = 1        ! the step goes on; no error
  integer, parameter, public :: tca_invalid_argument = 2  ! the call or the environment asks for something impossible
  integer, parameter, public :: tca_refused = 3           ! ranks differ, or all ask for the same impossible thing
  integer, parameter, public :: tca_timed_out = 4         ! the time limit has passed; the message names who is missing
  integer, parameter, public :: tca_rank_lost = 5         ! a partner died, left or failed
  integer, parameter, public :: tca_out_of_memory = 6     ! the machine cannot hold what was asked for
  integer, parameter, public :: tca_incompatible = 7      ! another version, another user, another MPI
  integer, parameter, public :: tca_device_failed = 8     ! a GPU or its driver reports an error, or there is none
  integer, parameter, public :: tca_internal = 9          ! an error that is none of OpenTCA's
  integer, parameter, public :: tca_path_lost = 10        ! a cable, a hub or a path on the way to a partner has failed

  ! What the last error of a thread concerns, as far as that is known; texts are empty where it is not.
  type :: tca_error
    integer :: status = tca_ok
    character(:), allocatable :: message
    character(:), allocatable :: chain  ! its name
    character(:), allocatable :: file   ! the one at fault, such as a machine file
    integer, allocatable :: missing(:)  ! ranks that have not signalled or not come, or the one that is lost
    integer :: rank = -1                ! that met it; -1 outside of a world
    integer :: line = 0, column = 0     ! in the file, from 1; 0 if there is none
    logical :: has_step = .false.
    integer(int64) :: step = 0          ! of the chain
  end type

contains

  ! Gives the program its status or, where it has not asked for one, ends this rank where the call has failed.
  subroutine settle(status, ierror)
    integer(c_int), intent(in) :: status
    integer, optional, intent(out) :: ierror

    if (present(ierror)) then
      ierror = status
    else if (status /= tca_ok .and. status /= tca_unfinished) then
      write (error_unit, '(a)') tca_last_message()
      flush (error_unit)
      error stop status
    end if
  end subroutine

  ! The same for a call that may say that a step goes on.
  subroutine settle_test(status, finished, ierror)
    integer(c_int), intent(in) :: status
    logical, intent(out) :: finished
    integer, optional, intent(out) :: ierror

    finished = status == tca_ok
    call settle(merge(0_c_int, status, status == tca_unfinished), ierror)
  end subroutine

  ! The same for a call that gives a text.
  subroutine settle_text(call_of_c, handle, text, ierror)
    procedure(gives_address) :: call_of_c
    type(c_ptr), intent(in) :: handle
    character(:), allocatable, intent(out) :: text
    integer, optional, intent(out) :: ierror
    type(c_ptr) :: address
    integer(c_int) :: status

    address = c_null_ptr
    status = call_of_c(handle, address)
    text = text_of(address)
    call settle(status, ierror)
  end subroutine

  ! Makes a message this thread's last error: for the body of a rank that fails by itself.
  subroutine tca_fail(status, message, ierror)
    integer, intent(in) :: status
    character(*), intent(in) :: message
    integer, optional, intent(out) :: ierror

    call settle(c_fail(int(status, c_int), terminated(message)), ierror)
  end subroutine

  ! Lengths of results are expressions: what gfortran knows of a result of deferred length it keeps in static memory, which
  ! ranks that are threads would share.
  function tca_status_name(status) result(name)
    integer, intent(in) :: status
    character(length_of(c_status_name(int(status, c_int)))) :: name

    call copy_text(c_status_name(int(status, c_int)), name)
  end function

  ! The message of the last call of this thread that failed; empty if none has.
  function tca_last_message() result(message)
    character(length_of(c_last_message())) :: message

    call copy_text(c_last_message(), message)
  end function

  ! The version of the library that the program runs with, for example '0.1.0'.
  function tca_library_version() result(version)
    character(length_of(c_library_version())) :: version

    call copy_text(c_library_version(), version)
  end function

  subroutine tca_last_error(error, ierror)
    type(tca_error), intent(out) :: error
    integer, optional, intent(out) :: ierror
    type(c_error) :: last
    integer(c_int), pointer :: missing(:)
    integer(c_int) :: status

    last%size = c_sizeof(last)
    status = c_last_error(last)
    error%status = last%status
    error%message = text_of(last%message)
    error%chain = text_of(last%chain)
    error%file = text_of(last%file)
    allocate (error%missing(last%missing_count))
    if (last%missing_count > 0) then
      call c_f_pointer(last%missing, missing, [last%missing_count])
      error%missing = missing
    end if
    error%rank = last%rank
    error%line = last%line
    error%column = last%column
    error%has_step = last%has_step /= 0
    error%step = last%step
    call settle(status, ierror)
  end subroutine

  ! A text of C; an empty one where there is none.
  function text_of(address) result(text)
    type(c_ptr), intent(in) :: address
    character(length_of(address)) :: text

    call copy_text(address, text)
  end function

  subroutine copy_text(address, text)
    type(c_ptr), intent(in) :: address
    character(*), intent(out) :: text
    character(kind=c_char), pointer :: letters(:)
    integer :: i

    if (len(text) == 0) return
    call c_f_pointer(address, letters, [len(text)])
    do i = 1, len(text)
      text(i:i) = letters(i)
    end do
  end subroutine

  pure integer(c_size_t) function length_of(address)
    type(c_ptr), intent(in) :: address

    length_of = 0
    if (c_associated(address)) length_of = c_strlen(address)
  end function

  ! A text as C takes it, without the blanks at its end.
  pure function terminated(text)
    character(*), intent(in) :: text
    character(len_trim(text) + 1) :: terminated

    terminated = text(:len_trim(text))//c_null_char
  end function
end module
