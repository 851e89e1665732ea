! Chains of puts, committed once and started as often as needed.
module opentca_chains
  use, intrinsic :: iso_c_binding
  use, intrinsic :: iso_fortran_env, only: real64
  use opentca_calls
  use opentca_errors
  use opentca_worlds
  implicit none
  private
  public :: tca_chain_create, tca_chain_free, tca_chain_put, tca_chain_signal, tca_chain_expect, tca_chain_commit
  public :: tca_chain_start, tca_chain_test, tca_chain_wait, tca_chain_wait_for, tca_chain_run
  public :: tca_chain_start_on, tca_chain_wait_on, tca_chain_run_on, tca_chain_explain, tca_chain_name
  public :: keep_chain_options

  integer, parameter :: longest = 256

  ! A handle is what C has, a tca_chain*.
  type, public :: tca_chain
    type(c_ptr) :: handle = c_null_ptr
  end type

  type, public :: tca_chain_options
    real(real64) :: time_limit = 0      ! seconds that a wait and a commit may take; 0: the world's limit
    character(longest) :: channel = ''  ! forces a channel for every put, such as 'shm/staged'
    logical :: guarded = .true.         ! .false. where the program vouches for what guards would do
    logical :: partners_only = .false.  ! .true. where only the ranks that the chain joins commit it
    logical :: reroute = .false.        ! .true. where it goes round what has failed
  end type

  ! Options as C takes them, with the text that they point to.
  type, public :: kept_chain_options
    type(c_chain_options) :: c
    character(longest + 1) :: channel
  end type

contains

  subroutine keep_chain_options(options, kept)
    type(tca_chain_options), optional, intent(in) :: options
    type(kept_chain_options), target, intent(out) :: kept
    type(tca_chain_options) :: given

    if (present(options)) given = options
    kept%channel = terminated(given%channel)
    kept%c%size = c_sizeof(kept%c)
    kept%c%time_limit = given%time_limit
    kept%c%channel = c_loc(kept%channel(1:1))
    kept%c%unguarded = merge(0, 1, given%guarded)
    kept%c%partners_only = merge(1, 0, given%partners_only)
    kept%c%reroute = merge(1, 0, given%reroute)
  end subroutine

  ! Makes an empty chain. The name is the same on every rank.
  subroutine tca_chain_create(world, name, chain, options, ierror)
    type(tca_world), intent(in) :: world
    character(*), intent(in) :: name
    type(tca_chain), intent(out) :: chain
    type(tca_chain_options), optional, intent(in) :: options
    integer, optional, intent(out) :: ierror
    type(kept_chain_options), target :: kept

    call keep_chain_options(options, kept)
    call settle(c_chain_create(world%handle, terminated(name), kept%c, chain%handle), ierror)
  end subroutine

  subroutine tca_chain_free(chain, ierror)
    type(tca_chain), intent(inout) :: chain
    integer, optional, intent(out) :: ierror
    integer(c_int) :: status

    status = c_chain_free(chain%handle)
    if (status == tca_ok) chain%handle = c_null_ptr
    call settle(status, ierror)
  end subroutine

  ! Adds a put. Both sides have the same layout where `from_layout` is absent.
  subroutine tca_chain_put(chain, to, to_layout, from, from_layout, ierror)
    type(tca_chain), intent(in) :: chain
    type(tca_remote), intent(in) :: to
    type(tca_layout), intent(in) :: to_layout
    type(tca_local), intent(in) :: from
    type(tca_layout), optional, intent(in) :: from_layout
    integer, optional, intent(out) :: ierror

    if (present(from_layout)) then
      call settle(c_chain_put(chain%handle, to, to_layout, from, from_layout), ierror)
    else
      call settle(c_chain_put(chain%handle, to, to_layout, from, to_layout), ierror)
    end if
  end subroutine

  ! Adds a put of no bytes, which tells `rank` that this rank has started.
  subroutine tca_chain_signal(chain, rank, ierror)
    type(tca_chain), intent(in) :: chain
    integer, intent(in) :: rank
    integer, optional, intent(out) :: ierror

    call settle(c_chain_signal(chain%handle, int(rank, c_int)), ierror)
  end subroutine

  ! Declares that `rank` puts or signals to this rank.
  subroutine tca_chain_expect(chain, rank, ierror)
    type(tca_chain), intent(in) :: chain
    integer, intent(in) :: rank
    integer, optional, intent(out) :: ierror

    call settle(c_chain_expect(chain%handle, int(rank, c_int)), ierror)
  end subroutine

  ! Collective. Checks the puts of all ranks, chooses their channels and compiles them.
  subroutine tca_chain_commit(chain, ierror)
    type(tca_chain), intent(in) :: chain
    integer, optional, intent(out) :: ierror

    call settle(c_chain_commit(chain%handle), ierror)
  end subroutine

  ! Starts a step, and never blocks.
  subroutine tca_chain_start(chain, ierror)
    type(tca_chain), intent(in) :: chain
    integer, optional, intent(out) :: ierror

    call settle(c_chain_start(chain%handle), ierror)
  end subroutine

  ! Whether the step has finished, or none is under way. Never blocks.
  subroutine tca_chain_test(chain, finished, ierror)
    type(tca_chain), intent(in) :: chain
    logical, intent(out) :: finished
    integer, optional, intent(out) :: ierror

    call settle_test(c_chain_test(chain%handle), finished, ierror)
  end subroutine

  ! Finishes the step.
  subroutine tca_chain_wait(chain, ierror)
    type(tca_chain), intent(in) :: chain
    integer, optional, intent(out) :: ierror

    call settle(c_chain_wait(chain%handle), ierror)
  end subroutine

  ! Waits for at most `seconds`; the step goes on where it has not finished, to be waited for again.
  subroutine tca_chain_wait_for(chain, seconds, finished, ierror)
    type(tca_chain), intent(in) :: chain
    real(real64), intent(in) :: seconds
    logical, intent(out) :: finished
    integer, optional, intent(out) :: ierror

    call settle_test(c_chain_wait_for(chain%handle, seconds), finished, ierror)
  end subroutine

  ! A start and a wait.
  subroutine tca_chain_run(chain, ierror)
    type(tca_chain), intent(in) :: chain
    integer, optional, intent(out) :: ierror

    call settle(c_chain_run(chain%handle), ierror)
  end subroutine

  ! The same, ordered on a stream of the GPU: a cudaStream_t.
  subroutine tca_chain_start_on(chain, stream, ierror)
    type(tca_chain), intent(in) :: chain
    type(c_ptr), intent(in) :: stream
    integer, optional, intent(out) :: ierror

    call settle(c_chain_start_on(chain%handle, stream), ierror)
  end subroutine

  subroutine tca_chain_wait_on(chain, stream, ierror)
    type(tca_chain), intent(in) :: chain
    type(c_ptr), intent(in) :: stream
    integer, optional, intent(out) :: ierror

    call settle(c_chain_wait_on(chain%handle, stream), ierror)
  end subroutine

  subroutine tca_chain_run_on(chain, stream, ierror)
    type(tca_chain), intent(in) :: chain
    type(c_ptr), intent(in) :: stream
    integer, optional, intent(out) :: ierror

    call settle(c_chain_run_on(chain%handle, stream), ierror)
  end subroutine

  ! A line for every put: its channel, time, bytes, layout and the reason for the choice.
  subroutine tca_chain_explain(chain, text, ierror)
    type(tca_chain), intent(in) :: chain
    character(:), allocatable, intent(out) :: text
    integer, optional, intent(out) :: ierror

    call settle_text(c_chain_explain, chain%handle, text, ierror)
  end subroutine

  subroutine tca_chain_name(chain, name, ierror)
    type(tca_chain), intent(in) :: chain
    character(:), allocatable, intent(out) :: name
    integer, optional, intent(out) :: ierror

    call settle_text(c_chain_name, chain%handle, name, ierror)
  end subroutine
end module
