! Counted puts, whose lengths are chosen anew for every step, and rounds of them.
module opentca_counted
  use, intrinsic :: iso_c_binding
  use, intrinsic :: iso_fortran_env, only: int32, int64
  use opentca_calls
  use opentca_errors
  use opentca_worlds
  use opentca_windows
  use opentca_chains
  use opentca_halos
  implicit none
  private
  public :: tca_chain_put_counted, tca_chain_expect_counted, tca_halo_add_counted, tca_halo_to, tca_halo_from
  public :: tca_counted_put_set, tca_counted_put_length, tca_counted_put_capacity, tca_counted_put_rank, tca_counted_put_free
  public :: tca_counted_arrival_count, tca_counted_arrival_capacity, tca_counted_arrival_rank, tca_counted_arrival_free
  public :: tca_rounds_create, tca_rounds_run, tca_rounds_free

  ! Handles of the sending and of the receiving end. They may outlive their chain or halo.
  type, public :: tca_counted_put
    type(c_ptr) :: handle = c_null_ptr
  end type
  type, public :: tca_counted_arrival
    type(c_ptr) :: handle = c_null_ptr
  end type

  ! Sets the length of the steps that are started from here on: 0 to the capacity, and 0 before the first call.
  interface tca_counted_put_set
    module procedure set_int32, set_int64
  end interface

  type, public :: tca_rounds
    type(c_ptr) :: handle = c_null_ptr
  end type

  ! What a rank does in each round: before the start it sets lengths and says whether it will still have something to send,
  ! and after the wait it takes what has come.
  type, abstract, public :: tca_round_body
  contains
    procedure(load_round), deferred :: load
    procedure(unload_round), deferred :: unload
  end type
  abstract interface
    subroutine load_round(self, has_more, ierror)
      import :: tca_round_body
      class(tca_round_body), intent(inout) :: self
      logical, intent(out) :: has_more
      integer, intent(out) :: ierror
    end subroutine
    subroutine unload_round(self, ierror)
      import :: tca_round_body
      class(tca_round_body), intent(inout) :: self
      integer, intent(out) :: ierror
    end subroutine
  end interface

  ! Collective. Makes rounds of a chain or of a halo, for what may be more than fits into one step.
  interface tca_rounds_create
    module procedure rounds_of_chain, rounds_of_halo
  end interface

  type :: held_body
    class(tca_round_body), pointer :: body
  end type

contains

  ! Adds a put of which a step moves as many elements as are set, and at most those of the layout.
  subroutine tca_chain_put_counted(chain, to, to_layout, from, put, from_layout, ierror)
    type(tca_chain), intent(in) :: chain
    type(tca_remote), intent(in) :: to
    type(tca_layout), intent(in) :: to_layout
    type(tca_local), intent(in) :: from
    type(tca_counted_put), intent(out) :: put
    type(tca_layout), optional, intent(in) :: from_layout
    integer, optional, intent(out) :: ierror
    type(tca_layout) :: here

    here = to_layout
    if (present(from_layout)) here = from_layout
    call settle(c_chain_put_counted(chain%handle, to, to_layout, from, here, put%handle), ierror)
  end subroutine

  ! Declares a counted put of `rank` to this rank, the n-th call for a rank its n-th one.
  subroutine tca_chain_expect_counted(chain, rank, arrival, ierror)
    type(tca_chain), intent(in) :: chain
    integer, intent(in) :: rank
    type(tca_counted_arrival), intent(out) :: arrival
    integer, optional, intent(out) :: ierror

    call settle(c_chain_expect_counted(chain%handle, int(rank, c_int), arrival%handle), ierror)
  end subroutine

  ! Adds a field whose faces are counted puts. It begins at element `position` (1) of this rank's part of a window.
  subroutine tca_halo_add_counted(halo, window, position, ierror)
    type(tca_halo), intent(in) :: halo
    type(tca_window), intent(in) :: window
    integer(int64), optional, intent(in) :: position
    integer, optional, intent(out) :: ierror
    integer(c_int64_t) :: offset

    offset = 0
    if (present(position)) offset = position - 1
    call settle(c_halo_add_counted(halo%handle, window%handle, offset), ierror)
  end subroutine

  ! The two ends of a counted field's exchange on one side, of -1, 0 and 1 for each dimension; after the commit. Fields are
  ! numbered from 1. The handle is c_null_ptr where no neighbour is there or no ghosts are to be filled.
  subroutine tca_halo_to(halo, field, side, put, ierror)
    type(tca_halo), intent(in) :: halo
    integer, intent(in) :: field, side(:)
    type(tca_counted_put), intent(out) :: put
    integer, optional, intent(out) :: ierror
    integer(c_int) :: status

    status = check_side(halo, side, 'tca_halo_to')
    if (status == tca_ok) status = c_halo_to(halo%handle, int(field - 1, c_int), in_c(side), put%handle)
    call settle(status, ierror)
  end subroutine

  subroutine tca_halo_from(halo, field, side, arrival, ierror)
    type(tca_halo), intent(in) :: halo
    integer, intent(in) :: field, side(:)
    type(tca_counted_arrival), intent(out) :: arrival
    integer, optional, intent(out) :: ierror
    integer(c_int) :: status

    status = check_side(halo, side, 'tca_halo_from')
    if (status == tca_ok) status = c_halo_from(halo%handle, int(field - 1, c_int), in_c(side), arrival%handle)
    call settle(status, ierror)
  end subroutine

  integer(c_int) function check_side(halo, side, call_of)
    type(tca_halo), intent(in) :: halo
    integer, intent(in) :: side(:)
    character(*), intent(in) :: call_of

    check_side = tca_ok
    if (c_associated(halo%handle) .and. size(side) /= halo%dims) &
      check_side = c_fail(int(tca_invalid_argument, c_int), terminated(call_of//': a side has a number for each dimension'))
  end function

  ! Dimensions are the other way round in C.
  pure function in_c(numbers)
    integer, intent(in) :: numbers(:)
    integer(c_int) :: in_c(size(numbers))

    in_c = int(numbers(size(numbers):1:-1), c_int)
  end function

  subroutine set_int64(put, elements, ierror)
    type(tca_counted_put), intent(in) :: put
    integer(int64), intent(in) :: elements
    integer, optional, intent(out) :: ierror

    call settle(c_counted_put_set(put%handle, elements), ierror)
  end subroutine

  subroutine set_int32(put, elements, ierror)
    type(tca_counted_put), intent(in) :: put
    integer(int32), intent(in) :: elements
    integer, optional, intent(out) :: ierror

    call set_int64(put, int(elements, int64), ierror)
  end subroutine

  subroutine tca_counted_put_length(put, elements, ierror)
    type(tca_counted_put), intent(in) :: put
    integer(int64), intent(out) :: elements
    integer, optional, intent(out) :: ierror
    integer(c_int64_t) :: given
    integer(c_int) :: status

    given = 0
    status = c_counted_put_length(put%handle, given)
    elements = given
    call settle(status, ierror)
  end subroutine

  subroutine tca_counted_put_capacity(put, elements, ierror)
    type(tca_counted_put), intent(in) :: put
    integer(int64), intent(out) :: elements
    integer, optional, intent(out) :: ierror
    integer(c_int64_t) :: given
    integer(c_int) :: status

    given = 0
    status = c_counted_put_capacity(put%handle, given)
    elements = given
    call settle(status, ierror)
  end subroutine

  subroutine tca_counted_put_rank(put, rank, ierror)
    type(tca_counted_put), intent(in) :: put
    integer, intent(out) :: rank
    integer, optional, intent(out) :: ierror
    integer(c_int) :: given
    integer(c_int) :: status

    given = 0
    status = c_counted_put_rank(put%handle, given)
    rank = given
    call settle(status, ierror)
  end subroutine

  subroutine tca_counted_put_free(put, ierror)
    type(tca_counted_put), intent(inout) :: put
    integer, optional, intent(out) :: ierror
    integer(c_int) :: status

    status = c_counted_put_free(put%handle)
    if (status == tca_ok) put%handle = c_null_ptr
    call settle(status, ierror)
  end subroutine

  ! How many elements came with the step that was waited for last. Not while a step is under way.
  subroutine tca_counted_arrival_count(arrival, elements, ierror)
    type(tca_counted_arrival), intent(in) :: arrival
    integer(int64), intent(out) :: elements
    integer, optional, intent(out) :: ierror
    integer(c_int64_t) :: given
    integer(c_int) :: status

    given = 0
    status = c_counted_arrival_count(arrival%handle, given)
    elements = given
    call settle(status, ierror)
  end subroutine

  ! The most that can come; 0 before the commit.
  subroutine tca_counted_arrival_capacity(arrival, elements, ierror)
    type(tca_counted_arrival), intent(in) :: arrival
    integer(int64), intent(out) :: elements
    integer, optional, intent(out) :: ierror
    integer(c_int64_t) :: given
    integer(c_int) :: status

    given = 0
    status = c_counted_arrival_capacity(arrival%handle, given)
    elements = given
    call settle(status, ierror)
  end subroutine

  subroutine tca_counted_arrival_rank(arrival, rank, ierror)
    type(tca_counted_arrival), intent(in) :: arrival
    integer, intent(out) :: rank
    integer, optional, intent(out) :: ierror
    integer(c_int) :: given
    integer(c_int) :: status

    given = 0
    status = c_counted_arrival_rank(arrival%handle, given)
    rank = given
    call settle(status, ierror)
  end subroutine

  subroutine tca_counted_arrival_free(arrival, ierror)
    type(tca_counted_arrival), intent(inout) :: arrival
    integer, optional, intent(out) :: ierror
    integer(c_int) :: status

    status = c_counted_arrival_free(arrival%handle)
    if (status == tca_ok) arrival%handle = c_null_ptr
    call settle(status, ierror)
  end subroutine

  subroutine rounds_of_chain(world, name, chain, rounds, ierror)
    type(tca_world), intent(in) :: world
    character(*), intent(in) :: name
    type(tca_chain), intent(in) :: chain
    type(tca_rounds), intent(out) :: rounds
    integer, optional, intent(out) :: ierror

    call settle(c_rounds_of_chain(world%handle, terminated(name), chain%handle, rounds%handle), ierror)
  end subroutine

  subroutine rounds_of_halo(world, name, halo, rounds, ierror)
    type(tca_world), intent(in) :: world
    character(*), intent(in) :: name
    type(tca_halo), intent(in) :: halo
    type(tca_rounds), intent(out) :: rounds
    integer, optional, intent(out) :: ierror

    call settle(c_rounds_of_halo(world%handle, terminated(name), halo%handle, rounds%handle), ierror)
  end subroutine

  ! Collective. Runs steps until no rank has more, and at least one; `count` says how many. An `ierror` of the body ends it.
  subroutine tca_rounds_run(rounds, body, count, ierror)
    type(tca_rounds), intent(in) :: rounds
    class(tca_round_body), target, intent(inout) :: body
    integer, intent(out) :: count
    integer, optional, intent(out) :: ierror
    type(held_body), target :: held
    integer(c_int) :: ran, status

    ran = 0
    held%body => body
    status = c_rounds_run(rounds%handle, c_funloc(load_body), c_funloc(unload_body), c_loc(held), ran)
    count = ran
    call settle(status, ierror)
  end subroutine

  recursive function load_body(context, has_more) result(status) bind(c, name='')
    type(c_ptr), value :: context
    integer(c_int), intent(inout) :: has_more
    integer(c_int) :: status
    type(held_body), pointer :: held
    logical :: more
    integer :: ierror

    call c_f_pointer(context, held)
    call held%body%load(more, ierror)
    has_more = merge(1, 0, more)
    status = int(ierror, c_int)
  end function

  recursive function unload_body(context) result(status) bind(c, name='')
    type(c_ptr), value :: context
    integer(c_int) :: status
    type(held_body), pointer :: held
    integer :: ierror

    call c_f_pointer(context, held)
    call held%body%unload(ierror)
    status = int(ierror, c_int)
  end function

  subroutine tca_rounds_free(rounds, ierror)
    type(tca_rounds), intent(inout) :: rounds
    integer, optional, intent(out) :: ierror
    integer(c_int) :: status

    status = c_rounds_free(rounds%handle)
    if (status == tca_ok) rounds%handle = c_null_ptr
    call settle(status, ierror)
  end subroutine
end module
