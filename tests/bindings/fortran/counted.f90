! Counted puts of chains and halos, and rounds of them: what comes is what was sent, and as much of it.
module test_counted
  use, intrinsic :: iso_c_binding
  use, intrinsic :: iso_fortran_env, only: int32, int64
  use opentca
  use ranks
  implicit none
  private
  public :: counted

  integer, parameter :: room = 40, steps = 8, many = 130

  type :: ring
    integer :: me, left, right
    integer(int32), pointer, contiguous :: out(:, :), in(:)  ! columns of two, of three, go into a block
    type(tca_window) :: out_window, in_window
    type(tca_chain) :: chain
    type(tca_counted_put) :: sent
    type(tca_counted_arrival) :: come
  end type

  ! Numbers that do not fit into one step.
  type, extends(tca_round_body) :: stream
    type(ring) :: all
    integer :: sent = 0, come = 0
    logical :: is_right = .true., fails = .false.
  contains
    procedure :: load
    procedure :: unload
  end type

contains

  subroutine counted()
    call run_ranks(2, lengths_of_steps)
    call run_ranks(3, more_than_fits)
    call run_ranks(3, queues)
  end subroutine

  ! How many elements a rank sends in a step; the same on every rank.
  integer function length_of(rank, step)
    integer, intent(in) :: rank, step
    integer(int64) :: state

    state = iand(seed + 77*rank + 13*step, 4294967295_int64)
    length_of = 2*random_below(state, room/2 + 1)
  end function

  subroutine make_ring(world, all)
    type(tca_world), intent(in) :: world
    type(ring), intent(out) :: all
    type(tca_layout) :: columns, block
    integer(int64) :: capacity
    integer :: size

    call tca_world_rank(world, all%me)
    call tca_world_size(world, size)
    all%right = modulo(all%me + 1, size)
    all%left = modulo(all%me - 1, size)
    call tca_window_create(world, [1, 1], [3, room/2], all%out, all%out_window, 'out')
    call tca_window_create(world, [1], [room + 1], all%in, all%in_window, 'in')
    call tca_layout_block_stride(room/2, 2, 3, columns)
    call tca_layout_block(room, block)
    call tca_chain_create(world, 'ring', all%chain)
    call tca_chain_put_counted(all%chain, tca_at(all%in_window, all%right, 2), block, tca_here(all%out_window, 1), all%sent, &
                               columns)
    call tca_chain_expect_counted(all%chain, all%left, all%come)
    call tca_chain_commit(all%chain)
    call tca_counted_arrival_capacity(all%come, capacity)
    call require(capacity == room, 'the capacity of the arrival')
    call tca_counted_put_capacity(all%sent, capacity)
    call require(capacity == room, 'the capacity of the put')
  end subroutine

  subroutine free_ring(all)
    type(ring), intent(inout) :: all

    call tca_chain_free(all%chain)
    call tca_counted_put_free(all%sent)  ! after its chain, as may be
    call tca_counted_arrival_free(all%come)
    call tca_window_free(all%out_window)
    call tca_window_free(all%in_window)
  end subroutine

  subroutine lengths_of_steps(world, ierror)
    type(tca_world), intent(in) :: world
    integer, intent(out) :: ierror
    type(ring) :: all
    integer(int32) :: expected(room + 1)
    integer(int64) :: count
    integer :: step, i, column

    call make_ring(world, all)
    expected = 0
    do step = 1, steps
      all%out = reshape([(1000*all%me + 100*step + i, i=1, 3*room/2)], [3, room/2])
      call tca_counted_put_set(all%sent, length_of(all%me, step))
      call tca_chain_run(all%chain)
      call tca_counted_arrival_count(all%come, count)
      call require(count == length_of(all%left, step), 'another number has come than was sent')
      do column = 1, int(count)/2
        expected(2*column:2*column + 1) = 1000*all%left + 100*step + 3*(column - 1) + [1, 2]
      end do
      call require(all_equal(all%in, expected), 'something else has come than was sent')
      call sync(world)
    end do
    call refuse_lengths(all)
    call free_ring(all)
    ierror = tca_ok
  end subroutine

  logical function all_equal(have, expected)
    integer(int32), intent(in) :: have(:), expected(:)

    all_equal = all(have == expected)
  end function

  ! Before a rank writes what its neighbour may still compare.
  subroutine sync(world)
    type(tca_world), intent(in) :: world

    call tca_world_barrier(world)
  end subroutine

  subroutine refuse_lengths(all)
    type(ring), intent(in) :: all
    integer :: ierror, rank
    integer(int64) :: before, now

    call tca_counted_put_length(all%sent, before)
    call tca_counted_put_set(all%sent, room + 2, ierror)
    call expect(ierror, tca_invalid_argument, 'ring')
    call tca_counted_put_set(all%sent, -1_int64, ierror)
    call expect(ierror, tca_invalid_argument, '-1')
    call tca_counted_put_length(all%sent, now)
    call require(now == before, 'a length that was refused has been set')
    call tca_counted_put_rank(all%sent, rank)
    call require(rank == all%right, 'the target')
    call tca_counted_arrival_rank(all%come, rank)
    call require(rank == all%left, 'the source')
  end subroutine

  integer function all_of(rank)
    integer, intent(in) :: rank

    all_of = many + 50*rank
  end function

  subroutine load(self, has_more, ierror)
    class(stream), intent(inout) :: self
    logical, intent(out) :: has_more
    integer, intent(out) :: ierror
    integer :: i, now

    has_more = .false.
    if (self%fails) then
      call tca_fail(tca_refused, "the program's own reason", ierror)
      return
    end if
    now = min(room, all_of(self%all%me) - self%sent)
    do i = 0, now - 1
      self%all%out(mod(i, 2) + 1, i/2 + 1) = 10000*self%all%me + self%sent + i
    end do
    call tca_counted_put_set(self%all%sent, now)
    self%sent = self%sent + now
    has_more = self%sent < all_of(self%all%me)
    ierror = tca_ok
  end subroutine

  subroutine unload(self, ierror)
    class(stream), intent(inout) :: self
    integer, intent(out) :: ierror
    integer(int64) :: count
    integer :: i

    call tca_counted_arrival_count(self%all%come, count)
    do i = 0, int(count) - 1
      self%is_right = self%is_right .and. self%all%in(i + 2) == 10000*self%all%left + self%come + i
    end do
    self%come = self%come + int(count)
    ierror = tca_ok
  end subroutine

  subroutine more_than_fits(world, ierror)
    type(tca_world), intent(in) :: world
    integer, intent(out) :: ierror
    type(stream) :: one
    type(tca_rounds) :: rounds
    integer :: size, count

    call tca_world_size(world, size)
    call make_ring(world, one%all)
    call tca_rounds_create(world, 'rounds', one%all%chain, rounds)
    call tca_rounds_run(rounds, one, count)
    call require(one%is_right .and. one%come == all_of(one%all%left), 'other numbers have come than were sent')
    call require(count == (all_of(size - 1) + room - 1)/room, 'the number of rounds')
    one%fails = .true.
    call tca_rounds_run(rounds, one, count, ierror)
    call expect(ierror, tca_refused, "the program's own reason")
    call tca_rounds_free(rounds)
    call free_ring(one%all)
    ierror = tca_ok
  end subroutine

  ! Queues for the neighbours in a row of ranks, whose ends have one each.
  subroutine queues(world, ierror)
    type(tca_world), intent(in) :: world
    integer, intent(out) :: ierror
    integer, parameter :: cells = 12
    type(tca_grid) :: grid
    type(tca_halo) :: halo
    type(tca_window) :: window
    type(tca_counted_put) :: to
    type(tca_counted_arrival) :: from
    integer(int32), pointer, contiguous :: u(:)
    integer(int64) :: count
    integer :: me, size, i

    call tca_world_rank(world, me)
    call tca_world_size(world, size)
    call tca_grid_create(size, [0], grid)
    call tca_halo_create(world, 'queues', grid, [2*cells], halo, reshape([cells, cells], [2, 1]))
    call tca_window_create(world, halo%lower(:1), halo%upper(:1), u, window, 'u')
    call tca_halo_add_counted(halo, window)
    call tca_halo_commit(halo)
    call tca_halo_to(halo, 1, [1, 0], to, ierror)
    call expect(ierror, tca_invalid_argument, 'a number for each dimension')
    call tca_halo_to(halo, 2, [1], to, ierror)
    call expect(ierror, tca_invalid_argument, 'field')
    call tca_halo_to(halo, 1, [1], to)
    call tca_halo_from(halo, 1, [-1], from)
    call require(c_associated(to%handle) .neqv. me == size - 1, 'the end above')
    call require(c_associated(from%handle) .neqv. me == 0, 'the end below')
    u = [(100*me + i, i=lbound(u, 1), ubound(u, 1))]
    if (c_associated(to%handle)) call tca_counted_put_set(to, 3 + me)
    call tca_halo_run(halo)
    if (c_associated(from%handle)) then
      call tca_counted_arrival_count(from, count)
      call require(count == 2 + me, 'another number has come than was sent')
      i = lbound(u, 1)
      call require(all(u(i:i + int(count) - 1) == 100*(me - 1) + i + 2*cells + [(i, i=0, int(count) - 1)]), 'the queue')
    end if
    call tca_halo_free(halo)
    if (c_associated(to%handle)) call tca_counted_put_free(to)
    if (c_associated(from%handle)) call tca_counted_arrival_free(from)
    call tca_window_free(window)
    ierror = tca_ok
  end subroutine
end module
