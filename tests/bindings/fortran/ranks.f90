! Ways to run a body as the ranks of a world, and what the tests say when something is wrong.
module ranks
  use, intrinsic :: iso_c_binding
  use, intrinsic :: iso_fortran_env, only: error_unit, int64, real64
  use opentca
  implicit none
  private
  public :: run_ranks, run_processes, require, expect, random_below, fork, wait_for_child, leave

  character(9), public :: way = 'threads'  ! or 'processes', or 'sim'
  logical, public :: by_fibers = .false.   ! on sim
  integer(int64), public :: seed = 1       ! of random numbers, the same on every rank; printed when a test fails

  integer :: worlds = 0

  interface
    integer(c_int) function fork() bind(c)
      import
    end function
    integer(c_int) function c_wait(how) bind(c, name='wait')
      import
      integer(c_int), intent(inout) :: how
    end function
    integer(c_int) function getpid() bind(c)
      import
    end function
    ! Ends a process that was forked, without what the first one has registered for its end.
    subroutine leave(code) bind(c, name='_exit')
      import
      integer(c_int), value :: code
    end subroutine
  end interface

contains

  ! Ends the test where something does not hold; other ranks then see that this one is lost.
  subroutine require(holds, what)
    logical, intent(in) :: holds
    character(*), intent(in) :: what

    if (holds) return
    write (error_unit, '(2a, i0)') what, '; seed ', seed
    flush (error_unit)
    error stop 1
  end subroutine

  ! A call must have failed, with a message that has these words.
  subroutine expect(ierror, expected, words)
    integer, intent(in) :: ierror, expected
    character(*), intent(in) :: words

    call require(ierror == expected, 'it is '//tca_status_name(ierror)//', not '//tca_status_name(expected)//': '// &
                 tca_last_message())
    call require(index(tca_last_message(), words) > 0, "'"//words//"' is not in '"//tca_last_message()//"'")
  end subroutine

  ! A number from 0 to `below` - 1.
  integer function random_below(state, below)
    integer(int64), intent(inout) :: state
    integer, intent(in) :: below

    state = iand(state*1664525_int64 + 1013904223_int64, 4294967295_int64)
    random_below = int(mod(shiftr(state, 8), int(below, int64)))
  end function

  subroutine run_ranks(count, body)
    integer, intent(in) :: count
    procedure(tca_rank_body) :: body

    select case (way)
    case ('processes')
      call run_processes(count, body)
    case ('sim')
      call tca_world_run_threads(count, body, tca_world_options(time_limit=20.0_real64, fabric='sim', fibers=by_fibers))
    case default
      call tca_world_run_threads(count, body, tca_world_options(time_limit=20.0_real64, fabric='shm'))
    end select
  end subroutine

  ! Processes that find each other by a key. `fallen` of them end by a signal or otherwise than well.
  subroutine run_processes(count, body, fallen)
    integer, intent(in) :: count
    procedure(tca_rank_body) :: body
    integer, optional, intent(in) :: fallen
    character(64) :: key
    integer :: rank, failed

    worlds = worlds + 1
    write (key, '(a, i0, a, i0)') 'fortran-test.', getpid(), '.', worlds
    do rank = 0, count - 1
      if (fork() == 0) call run_rank(rank, count, key, body)
    end do
    failed = 0
    do rank = 0, count - 1
      if (wait_for_child() /= 0) failed = failed + 1
    end do
    if (present(fallen)) then
      call require(failed == fallen, 'other ranks have failed than should')
    else
      call require(failed == 0, 'a rank has failed')
    end if
  end subroutine

  ! What wait says of a child: 0 where it has ended well, and 256 times its exit code.
  integer function wait_for_child()
    integer(c_int) :: how

    how = -1
    if (c_wait(how) < 0) how = -1
    wait_for_child = how
  end function

  subroutine run_rank(rank, count, key, body)
    integer, intent(in) :: rank, count
    character(*), intent(in) :: key
    procedure(tca_rank_body) :: body
    type(tca_world) :: world
    integer :: ierror

    call tca_world_join(rank, count, key, world, tca_world_options(time_limit=20.0_real64))
    call body(world, ierror)
    if (ierror == tca_ok) call tca_world_free(world)
    call leave(int(ierror, c_int))
  end subroutine
end module
