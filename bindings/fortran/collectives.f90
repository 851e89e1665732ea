! Collectives, set up once and run as often as needed. Those with memory of their own and a type are in elements.inc.
module opentca_collectives
  use, intrinsic :: iso_c_binding
  use, intrinsic :: iso_fortran_env, only: int64, real64
  use opentca_calls
  use opentca_errors
  use opentca_worlds
  use opentca_windows
  implicit none
  private
  public :: tca_collective_create, tca_collective_free, tca_collective_from, tca_collective_to
  public :: tca_collective_start, tca_collective_test, tca_collective_wait, tca_collective_wait_for
  public :: tca_collective_run, tca_collective_start_on, tca_collective_wait_on, tca_collective_run_on
  public :: tca_collective_algorithm, tca_collective_explain
  public :: create_with_memory

  integer, parameter :: tca_barrier = 0, tca_broadcast = 1, tca_all_gather = 2, tca_all_reduce = 3, tca_reduce_scatter = 4
  integer, parameter :: tca_all_to_all = 5
  integer, parameter :: tca_float32 = 0, tca_float64 = 1, tca_int32 = 2, tca_int64 = 3, tca_long_double = 4, tca_int8 = 5
  integer, parameter :: tca_int16 = 6, tca_uint8 = 7, tca_uint16 = 8, tca_uint32 = 9, tca_uint64 = 10
  integer, parameter :: tca_other = 11  ! only the size is known
  integer, parameter :: tca_sum = 0, tca_min = 1, tca_max = 2, tca_product = 3
  public :: tca_barrier, tca_broadcast, tca_all_gather, tca_all_reduce, tca_reduce_scatter, tca_all_to_all
  public :: tca_float32, tca_float64, tca_int32, tca_int64, tca_long_double, tca_int8, tca_int16, tca_uint8, tca_uint16
  public :: tca_uint32, tca_uint64, tca_other
  public :: tca_sum, tca_min, tca_max, tca_product

  integer, parameter :: longest = 256

  ! A handle is what C has, a tca_collective*.
  type, public :: tca_collective
    type(c_ptr) :: handle = c_null_ptr
  end type

  type, public :: tca_collective_options
    integer :: root = 0                      ! of a broadcast
    integer :: operation = tca_sum           ! of all_reduce and reduce_scatter
    character(longest) :: algorithm = ''     ! forces an algorithm, such as 'ring'
    character(longest) :: channel = ''       ! forces a channel
    real(real64) :: time_limit = 0           ! seconds that a wait may take for each round; 0: the world's limit
    ! The program's own operation instead, c_funloc of a tca_combine, and what it is given. Options are targets wherever
    ! they are handed over, lest the compiler take it that nothing behind this address changes.
    type(c_funptr) :: combine = c_null_funptr
    type(c_ptr) :: context = c_null_ptr
  end type

  ! Combines `count` elements: into(i) = left(i) op right(i), where `into` may be either of the others. It must be
  ! associative, has the values of the lower rank on the left, and is called on the host only.
  abstract interface
    subroutine tca_combine(into, left, right, count, context) bind(c)
      import
      type(c_ptr), value :: into, left, right, context
      integer(c_size_t), value :: count
    end subroutine
  end interface
  public :: tca_combine

  ! A request as C takes it, with the texts that it points to.
  type :: kept_request
    type(c_collective_request) :: c
    character(longest + 1) :: name, algorithm, channel
  end type

  interface tca_collective_create
    module procedure create_barrier, create_of_windows
  end interface

contains

  subroutine keep_request(kind, name, type, element_bytes, count, options, kept)
    integer, intent(in) :: kind, type
    character(*), intent(in) :: name
    integer(c_size_t), intent(in) :: element_bytes
    integer(int64), intent(in) :: count
    type(tca_collective_options), optional, target, intent(in) :: options
    type(kept_request), target, intent(out) :: kept
    type(tca_collective_options) :: given

    if (present(options)) given = options
    kept%name = terminated(name(:min(len(name), longest)))
    kept%algorithm = terminated(given%algorithm)
    kept%channel = terminated(given%channel)
    kept%c%size = c_sizeof(kept%c)
    kept%c%name = c_loc(kept%name(1:1))
    kept%c%count = count
    kept%c%element_bytes = element_bytes
    kept%c%kind = int(kind, c_int)
    kept%c%type = int(type, c_int)
    kept%c%root = int(given%root, c_int)
    kept%c%operation = int(given%operation, c_int)
    kept%c%combine = given%combine
    kept%c%context = given%context
    kept%c%algorithm = c_loc(kept%algorithm(1:1))
    kept%c%channel = c_loc(kept%channel(1:1))
    kept%c%time_limit = given%time_limit
  end subroutine

  ! Collective. A barrier, which moves nothing.
  subroutine create_barrier(world, kind, name, collective, options, ierror)
    type(tca_world), intent(in) :: world
    integer, intent(in) :: kind
    character(*), intent(in) :: name
    type(tca_collective), intent(out) :: collective
    type(tca_collective_options), optional, target, intent(in) :: options
    integer, optional, intent(out) :: ierror
    type(kept_request), target :: kept

    call keep_request(kind, name, tca_other, 0_c_size_t, 0_int64, options, kept)
    call settle(c_collective_create(world%handle, kept%c, c_null_ptr, c_null_ptr, collective%handle), ierror)
  end subroutine

  ! Collective. In place where `to` is absent, and from one window to another otherwise; the window has elements of `type`.
  subroutine create_of_windows(world, kind, name, type, count, from, collective, to, options, ierror)
    type(tca_world), intent(in) :: world
    integer, intent(in) :: kind, type, count
    character(*), intent(in) :: name
    type(tca_window), intent(in) :: from
    type(tca_collective), intent(out) :: collective
    type(tca_window), optional, intent(in) :: to
    type(tca_collective_options), optional, target, intent(in) :: options
    integer, optional, intent(out) :: ierror
    type(kept_request), target :: kept
    type(c_ptr) :: target_of_it
    integer(c_size_t) :: element_bytes
    integer(c_int) :: status

    target_of_it = c_null_ptr
    if (present(to)) target_of_it = to%handle
    element_bytes = 0
    status = c_window_element_bytes(from%handle, element_bytes)
    if (type /= tca_other) element_bytes = 0
    if (status == tca_ok) then
      call keep_request(kind, name, type, element_bytes, int(count, int64), options, kept)
      status = c_collective_create(world%handle, kept%c, from%handle, target_of_it, collective%handle)
    end if
    call settle(status, ierror)
  end subroutine

  ! Makes a collective with memory of its own, and finds what this rank gives and what it gets.
  subroutine create_with_memory(world, kind, name, type, element_bytes, count, collective, options, &
                                from, from_count, to, to_count, status)
    type(tca_world), intent(in) :: world
    integer, intent(in) :: kind, type
    character(*), intent(in) :: name
    integer(c_size_t), intent(in) :: element_bytes
    integer(int64), intent(in) :: count
    type(tca_collective), intent(out) :: collective
    type(tca_collective_options), optional, target, intent(in) :: options
    type(c_ptr), intent(out) :: from, to
    integer(int64), intent(out) :: from_count, to_count
    integer(c_int), intent(out) :: status
    type(kept_request), target :: kept
    integer(c_int) :: freed, rank, ranks

    from = c_null_ptr
    to = c_null_ptr
    from_count = count
    to_count = count
    rank = 0
    ranks = 0
    call keep_request(kind, name, type, element_bytes, count, options, kept)
    status = c_world_rank(world%handle, rank)
    if (status == tca_ok) status = c_world_size(world%handle, ranks)
    if (kind == tca_reduce_scatter .or. kind == tca_all_to_all) from_count = ranks*count
    if (kind == tca_all_gather .or. kind == tca_all_to_all) to_count = ranks*count
    if (status == tca_ok) then
      status = c_collective_create(world%handle, kept%c, c_null_ptr, c_null_ptr, collective%handle)
    end if
    if (status == tca_ok) call find_memory(c_collective_from, collective, element_bytes, from_count, from, status)
    if (status == tca_ok) call find_memory(c_collective_to, collective, element_bytes, to_count, to, status)
    if (status /= tca_ok) then
      if (c_associated(collective%handle)) freed = c_collective_free(collective%handle)
      collective%handle = c_null_ptr
    end if
    ! A rank's block of an all-gather lies in its final place.
    if (status == tca_ok .and. kind == tca_all_gather) from = moved(from, rank*count*element_bytes)
  end subroutine

  subroutine find_memory(window_of, collective, element_bytes, elements, address, status)
    procedure(gives_address) :: window_of
    type(tca_collective), intent(in) :: collective
    integer(c_size_t), intent(in) :: element_bytes
    integer(int64), intent(in) :: elements
    type(c_ptr), intent(out) :: address
    integer(c_int), intent(out) :: status
    type(tca_window) :: window
    integer(c_int) :: freed

    address = c_null_ptr
    status = window_of(collective%handle, window%handle)
    if (status /= tca_ok) return
    call find_part(window, elements, element_bytes, address, status)
    freed = c_window_free(window%handle)  ! the collective keeps the memory
    if (status == tca_ok) status = freed
  end subroutine

  ! An address `bytes` bytes further on.
  function moved(address, bytes)
    type(c_ptr), intent(in) :: address
    integer(c_size_t), intent(in) :: bytes
    type(c_ptr) :: moved
    character(kind=c_char), pointer :: all(:)

    call c_f_pointer(address, all, [bytes + 1])
    moved = c_loc(all(bytes + 1))
  end function

  subroutine tca_collective_free(collective, ierror)
    type(tca_collective), intent(inout) :: collective
    integer, optional, intent(out) :: ierror
    integer(c_int) :: status

    status = c_collective_free(collective%handle)
    if (status == tca_ok) collective%handle = c_null_ptr
    call settle(status, ierror)
  end subroutine

  ! The windows that it reads and writes, as handles of their own, which are freed like others. A barrier has none.
  subroutine tca_collective_from(collective, window, ierror)
    type(tca_collective), intent(in) :: collective
    type(tca_window), intent(out) :: window
    integer, optional, intent(out) :: ierror

    call settle(c_collective_from(collective%handle, window%handle), ierror)
  end subroutine

  subroutine tca_collective_to(collective, window, ierror)
    type(tca_collective), intent(in) :: collective
    type(tca_window), intent(out) :: window
    integer, optional, intent(out) :: ierror

    call settle(c_collective_to(collective%handle, window%handle), ierror)
  end subroutine

  ! These are as the calls of a chain.
  subroutine tca_collective_start(collective, ierror)
    type(tca_collective), intent(in) :: collective
    integer, optional, intent(out) :: ierror

    call settle(c_collective_start(collective%handle), ierror)
  end subroutine

  subroutine tca_collective_test(collective, finished, ierror)
    type(tca_collective), intent(in) :: collective
    logical, intent(out) :: finished
    integer, optional, intent(out) :: ierror

    call settle_test(c_collective_test(collective%handle), finished, ierror)
  end subroutine

  subroutine tca_collective_wait(collective, ierror)
    type(tca_collective), intent(in) :: collective
    integer, optional, intent(out) :: ierror

    call settle(c_collective_wait(collective%handle), ierror)
  end subroutine

  subroutine tca_collective_wait_for(collective, seconds, finished, ierror)
    type(tca_collective), intent(in) :: collective
    real(real64), intent(in) :: seconds
    logical, intent(out) :: finished
    integer, optional, intent(out) :: ierror

    call settle_test(c_collective_wait_for(collective%handle, seconds), finished, ierror)
  end subroutine

  subroutine tca_collective_run(collective, ierror)
    type(tca_collective), intent(in) :: collective
    integer, optional, intent(out) :: ierror

    call settle(c_collective_run(collective%handle), ierror)
  end subroutine

  subroutine tca_collective_start_on(collective, stream, ierror)
    type(tca_collective), intent(in) :: collective
    type(c_ptr), intent(in) :: stream
    integer, optional, intent(out) :: ierror

    call settle(c_collective_start_on(collective%handle, stream), ierror)
  end subroutine

  subroutine tca_collective_wait_on(collective, stream, ierror)
    type(tca_collective), intent(in) :: collective
    type(c_ptr), intent(in) :: stream
    integer, optional, intent(out) :: ierror

    call settle(c_collective_wait_on(collective%handle, stream), ierror)
  end subroutine

  subroutine tca_collective_run_on(collective, stream, ierror)
    type(tca_collective), intent(in) :: collective
    type(c_ptr), intent(in) :: stream
    integer, optional, intent(out) :: ierror

    call settle(c_collective_run_on(collective%handle, stream), ierror)
  end subroutine

  ! All algorithms that could be chosen, with predicted times.
  subroutine tca_collective_explain(collective, text, ierror)
    type(tca_collective), intent(in) :: collective
    character(:), allocatable, intent(out) :: text
    integer, optional, intent(out) :: ierror

    call settle_text(c_collective_explain, collective%handle, text, ierror)
  end subroutine

  ! The name of the algorithm that was chosen.
  subroutine tca_collective_algorithm(collective, name, ierror)
    type(tca_collective), intent(in) :: collective
    character(:), allocatable, intent(out) :: name
    integer, optional, intent(out) :: ierror

    call settle_text(c_collective_algorithm, collective%handle, name, ierror)
  end subroutine
end module
