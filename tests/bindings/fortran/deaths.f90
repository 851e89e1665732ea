! A rank that dies, is late, or stops because of an error, as the others see it in `wait`.
module test_deaths
  use, intrinsic :: iso_c_binding
  use, intrinsic :: iso_fortran_env, only: real64
  use opentca
  use ranks
  implicit none
  private
  public :: deaths

  integer(c_int), parameter :: sigkill = 9
  logical :: is_killed = .true.
  integer(c_int) :: ends(2)  ! of a pipe

  interface
    integer(c_int) function c_raise(signal) bind(c, name='raise')
      import
      integer(c_int), value :: signal
    end function
    integer(c_int) function c_pipe(both) bind(c, name='pipe')
      import
      integer(c_int), intent(inout) :: both(2)
    end function
    integer(c_int) function c_dup2(from, to) bind(c, name='dup2')
      import
      integer(c_int), value :: from, to
    end function
    integer(c_int) function c_close(file) bind(c, name='close')
      import
      integer(c_int), value :: file
    end function
    integer(c_size_t) function c_read(file, into, bytes) bind(c, name='read')
      import
      integer(c_int), value :: file
      character(kind=c_char), intent(inout) :: into(*)
      integer(c_size_t), value :: bytes
    end function
    integer(c_size_t) function c_write(file, from, bytes) bind(c, name='write')
      import
      integer(c_int), value :: file
      character(kind=c_char), intent(in) :: from(*)
      integer(c_size_t), value :: bytes
    end function
  end interface

contains

  subroutine deaths()
    call require(c_pipe(ends) == 0, 'there is no pipe')
    is_killed = .true.
    call run_processes(2, dies, fallen=1)
    is_killed = .false.
    call run_processes(2, dies)
    call run_processes(2, is_late)
    call stops_with_the_message()
  end subroutine

  ! Signals between two ranks.
  subroutine make_chain(world, options, me, chain)
    type(tca_world), intent(in) :: world
    type(tca_chain_options), intent(in) :: options
    integer, intent(out) :: me
    type(tca_chain), intent(out) :: chain

    call tca_world_rank(world, me)
    call tca_chain_create(world, 'pulse', chain, options)
    call tca_chain_signal(chain, 1 - me)
    call tca_chain_expect(chain, 1 - me)
    call tca_chain_commit(chain)
    call tca_chain_run(chain)
  end subroutine

  subroutine check_missing(status)
    integer, intent(in) :: status
    type(tca_error) :: error

    call tca_last_error(error)
    call require(error%status == status .and. error%rank == 0 .and. error%chain == 'pulse', error%message)
    call require(size(error%missing) == 1, 'another number of ranks is missing: '//error%message)
    call require(error%missing(1) == 1, 'another rank is missing: '//error%message)
    call require(error%has_step .and. error%step == 2, 'it is another step: '//error%message)
  end subroutine

  subroutine dies(world, ierror)
    type(tca_world), intent(in) :: world
    integer, intent(out) :: ierror
    type(tca_chain) :: chain
    integer :: me
    logical :: finished

    call make_chain(world, tca_chain_options(), me, chain)
    if (me == 1) then
      if (is_killed) ierror = c_raise(sigkill)
      call leave(0_c_int)
    end if
    call tca_chain_start(chain)
    if (is_killed) then
      call tca_chain_wait(chain, ierror)
    else
      finished = .false.
      ierror = tca_ok
      do while (ierror == tca_ok .and. .not. finished)
        call tca_chain_wait_for(chain, 0.05_real64, finished, ierror)
      end do
    end if
    call expect(ierror, tca_rank_lost, 'rank 1')
    call check_missing(tca_rank_lost)
    call tca_chain_free(chain)
    call leave(0_c_int)
  end subroutine

  ! Rank 1 starts once rank 0 has given up waiting; the step then goes on.
  subroutine is_late(world, ierror)
    type(tca_world), intent(in) :: world
    integer, intent(out) :: ierror
    type(tca_chain) :: chain
    character(kind=c_char) :: byte(1)
    integer :: me
    logical :: finished

    call make_chain(world, tca_chain_options(time_limit=0.2_real64), me, chain)
    byte = 'x'
    if (me == 1) then
      call require(c_read(ends(1), byte, 1_c_size_t) == 1, 'the pipe is closed')
      call tca_chain_run(chain)
    else
      call tca_chain_start(chain)
      call tca_chain_test(chain, finished)
      call require(.not. finished, 'the step has finished')
      call tca_chain_wait(chain, ierror)
      call expect(ierror, tca_timed_out, 'pulse')
      call check_missing(tca_timed_out)
      call require(c_write(ends(2), byte, 1_c_size_t) == 1, 'the pipe is closed')
      do while (ierror == tca_timed_out)
        call tca_chain_wait(chain, ierror)
      end do
      call require(ierror == tca_ok, 'the step does not go on: '//tca_last_message())
    end if
    call tca_chain_free(chain)
    ierror = tca_ok
  end subroutine

  ! Where a program asks for no ierror, a call that fails says why and ends the process with its status.
  subroutine stops_with_the_message()
    type(tca_chain) :: chain
    character(kind=c_char) :: letters(1000)
    character(1000) :: text
    integer(c_int) :: said(2), ignored
    integer(c_size_t) :: bytes
    integer :: i, how

    call require(c_pipe(said) == 0, 'there is no pipe')
    if (fork() == 0) then
      ignored = c_dup2(said(2), 2_c_int)
      call tca_chain_start(chain)
      call leave(0_c_int)
    end if
    ignored = c_close(said(2))
    text = ''
    bytes = c_read(said(1), letters, size(letters, kind=c_size_t))
    do i = 1, int(bytes)
      text(i:i) = letters(i)
    end do
    how = wait_for_child()
    call require(how == 256*tca_invalid_argument, 'it has ended otherwise')
    call require(index(text, 'tca_chain_start: the chain is NULL') > 0, 'it has said '//trim(text))
  end subroutine
end module
