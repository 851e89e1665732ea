! Random chains against a copy made by hand: every rank knows the puts of all, and what should arrive where.
module test_puts
  use, intrinsic :: iso_fortran_env, only: int32, int64, real64
  use opentca
  use ranks
  implicit none
  private
  public :: puts

  ! A part of a window for what comes from each rank, and one behind them for what is sent. No put of a chain meets
  ! another one.
  integer, parameter :: zone = 48, most_ranks = 4, elements_of_all = zone*(most_ranks + 1), most_moved = 48, steps = 3, &
    chains = 6, sent = zone*most_ranks

  ! A layout, and the positions of the same elements one by one, from 1.
  type :: elements
    type(tca_layout) :: layout
    integer :: at(most_moved) = 0, count = 0
  end type

  type :: put
    logical :: is_there = .false.
    type(elements) :: from, to
  end type

contains

  subroutine puts()
    call run_ranks(2, random_chains)
    call run_ranks(most_ranks, random_chains)
    call run_ranks(2, ping_pong)
    call run_ranks(2, immediate)
  end subroutine

  subroutine random_chains(world, ierror)
    type(tca_world), intent(in) :: world
    integer, intent(out) :: ierror
    integer(int64) :: random
    integer :: i

    random = seed
    do i = 1, chains
      call random_chain(world, random)
    end do
    ierror = tca_ok
  end subroutine

  ! The puts are declared in any order, from the last rank or from the first.
  subroutine random_chain(world, random)
    type(tca_world), intent(in) :: world
    integer(int64), intent(inout) :: random
    type(put) :: all(0:most_ranks - 1, 0:most_ranks - 1)
    integer(int32), pointer, contiguous :: u(:)
    type(tca_window) :: window
    type(tca_chain) :: chain
    integer :: me, size, from, to

    call tca_world_rank(world, me)
    call tca_world_size(world, size)
    call tca_window_create(world, [1], [elements_of_all], u, window, 'u')
    call tca_chain_create(world, 'random', chain)
    do from = 0, size - 1
      do to = 0, size - 1
        call make_put(random, all(from, to))
      end do
    end do
    if (random_below(random, 2) == 0) then
      do to = 0, size - 1
        call declare_put(chain, window, me, to, all(me, to))
      end do
    else
      do to = size - 1, 0, -1
        call declare_put(chain, window, me, to, all(me, to))
      end do
    end if
    do from = 0, size - 1
      if (all(from, me)%is_there) call tca_chain_expect(chain, from)
    end do
    call tca_chain_commit(chain)
    call run_steps(u, window, chain, all(:, me), me, size)
    call tca_window_free(window)  ! in any order
    call tca_chain_free(chain)
  end subroutine

  subroutine declare_put(chain, window, me, to, one)
    type(tca_chain), intent(in) :: chain
    type(tca_window), intent(in) :: window
    integer, intent(in) :: me, to
    type(put), intent(in) :: one

    if (.not. one%is_there) return
    call tca_chain_put(chain, tca_at(window, to, me*zone + 1), one%to%layout, tca_here(window, sent + 1), one%from%layout)
  end subroutine

  subroutine run_steps(u, window, chain, arriving, me, size)
    integer(int32), pointer, contiguous, intent(in) :: u(:)
    type(tca_window), intent(in) :: window
    type(tca_chain), intent(in) :: chain
    type(put), intent(in) :: arriving(0:)
    integer, intent(in) :: me, size
    integer(int32) :: expected(elements_of_all), have(elements_of_all)
    integer :: step, from, i

    expected = 0
    do step = 1, steps
      expected(sent + 1:) = [(value_of(me, step, i), i=1, zone)]
      if (step == 1) u(sent + 1:) = expected(sent + 1:)
      if (step > 1) call tca_window_write(window, expected(sent + 1:), sent + 1)
      call step_by_some_call(chain, step)
      do from = 0, size - 1
        if (.not. arriving(from)%is_there) cycle
        do i = 1, arriving(from)%to%count
          expected(from*zone + arriving(from)%to%at(i)) = value_of(from, step, arriving(from)%from%at(i))
        end do
      end do
      if (step == 1) have = u
      if (step > 1) call tca_window_read(window, have)
      call require(all(have == expected), 'something else has arrived than was put')
    end do
  end subroutine

  pure integer(int32) function value_of(rank, step, element)
    integer, intent(in) :: rank, step, element

    value_of = int(100000*rank + 1000*step + element, int32)
  end function

  subroutine step_by_some_call(chain, step)
    type(tca_chain), intent(in) :: chain
    integer, intent(in) :: step
    logical :: finished

    if (step == 1) then
      call tca_chain_run(chain)
      return
    end if
    call tca_chain_start(chain)
    finished = .false.
    do while (.not. finished)
      if (step == 2) call tca_chain_test(chain, finished)
      if (step == 3) call tca_chain_wait_for(chain, 0.001_real64, finished)
    end do
    call tca_chain_wait(chain)
  end subroutine

  subroutine make_put(random, one)
    integer(int64), intent(inout) :: random
    type(put), intent(out) :: one
    integer :: i

    one%is_there = random_below(random, 3) > 0
    select case (random_below(random, 5))
    case (0)
      call make_block(random, one%from)
    case (1)
      call make_columns(random, one%from)
    case (2)
      call make_stride(random, one%from)
    case (3)
      call make_section(random, one%from)
    case default
      call make_by_hand(random, one%from)
    end select
    one%to = one%from
    if (random_below(random, 2) == 0) return
    ! Gathered into a block.
    one%to%at = [(i, i=1, most_moved)]
    call tca_layout_block(one%to%count, one%to%layout)
  end subroutine

  subroutine make_block(random, all)
    integer(int64), intent(inout) :: random
    type(elements), intent(out) :: all
    integer :: i

    all%count = random_below(random, zone + 1)
    all%at = [(i, i=1, most_moved)]
    call tca_layout_block(all%count, all%layout)
  end subroutine

  subroutine make_columns(random, all)
    integer(int64), intent(inout) :: random
    type(elements), intent(out) :: all
    integer :: columns, block, pitch, i

    columns = 1 + random_below(random, 4)
    block = 1 + random_below(random, 4)
    pitch = block + random_below(random, 5)
    all%count = columns*block
    all%at(:all%count) = [((i - 1)/block*pitch + mod(i - 1, block) + 1, i=1, all%count)]
    call tca_layout_block_stride(columns, block, pitch, all%layout)
  end subroutine

  subroutine make_stride(random, all)
    integer(int64), intent(inout) :: random
    type(elements), intent(out) :: all
    integer :: pitch, i

    pitch = 1 + random_below(random, 4)
    all%count = 1 + random_below(random, 10)
    all%at(:all%count) = [((i - 1)*pitch + 1, i=1, all%count)]
    call tca_layout_stride(all%count, pitch, all%layout)
  end subroutine

  ! A section of an array whose first element is at (1, 1, 1), or somewhere else.
  subroutine make_section(random, all)
    integer(int64), intent(inout) :: random
    type(elements), intent(out) :: all
    integer, parameter :: extents(3) = [4, 3, 4]
    integer :: lower(3), start(3), shape(3), positions(4, 3, 4), d, i
    logical :: has_bounds

    positions = reshape([(i, i=1, product(extents))], extents)
    has_bounds = random_below(random, 2) == 0
    lower = 1
    do d = 1, 3
      if (has_bounds) lower(d) = random_below(random, 5) - 2
      start(d) = random_below(random, extents(d))
      shape(d) = 1 + random_below(random, extents(d) - start(d))
    end do
    all%count = product(shape)
    all%at(:all%count) = reshape(positions(start(1) + 1:start(1) + shape(1), start(2) + 1:start(2) + shape(2), &
                                           start(3) + 1:start(3) + shape(3)), [all%count])
    if (has_bounds) then
      call tca_layout_subarray(extents, lower + start, shape, all%layout, lower)
    else
      call tca_layout_subarray(extents, lower + start, shape, all%layout)
    end if
  end subroutine

  ! A layout without a builder: runs of two, three of them 3 apart, and that twice, 12 apart.
  subroutine make_by_hand(random, all)
    integer(int64), intent(inout) :: random
    type(elements), intent(out) :: all
    integer :: i

    all%layout%first = random_below(random, 8)
    all%layout%run = 2
    all%layout%loops = 2
    all%layout%loop(1) = tca_loop(3, 3)
    all%layout%loop(2) = tca_loop(2, 12)
    all%count = 12
    do i = 1, 12
      all%at(i) = int(all%layout%first) + (i - 1)/6*12 + mod((i - 1)/2, 3)*3 + mod(i - 1, 2) + 1
    end do
  end subroutine

  ! Two unguarded chains with targets of their own take turns; what a chain says of itself.
  subroutine ping_pong(world, ierror)
    type(tca_world), intent(in) :: world
    integer, intent(out) :: ierror
    type(tca_window) :: window
    type(tca_chain) :: chains_of_turns(0:1)
    type(tca_layout) :: one
    real(real64), pointer, contiguous :: u(:)
    character(:), allocatable :: text
    character(4), parameter :: names(0:1) = ['ping', 'pong']
    integer :: me, turn, step

    call tca_world_rank(world, me)
    call tca_layout_block(1, one)
    call tca_window_create(world, [0], [3], u, window)
    do turn = 0, 1
      call tca_chain_create(world, names(turn), chains_of_turns(turn), tca_chain_options(guarded=.false., time_limit=15, &
                            partners_only=turn == 1, reroute=turn == 1))
      call tca_chain_put(chains_of_turns(turn), tca_at(window, 1 - me, 3_int64 + turn), one, &
                         tca_here(window, 1_int64 + turn))
      call tca_chain_expect(chains_of_turns(turn), 1 - me)
      call tca_chain_commit(chains_of_turns(turn))
    end do
    do step = 0, 19
      turn = mod(step, 2)
      u(turn) = 10*me + step
      call tca_chain_run(chains_of_turns(turn))
      call require(nint(u(2 + turn)) == 10*(1 - me) + step, 'another ball has arrived')
    end do
    call tca_chain_name(chains_of_turns(1), text)
    call require(text == 'pong', 'it is '//text)
    call tca_chain_explain(chains_of_turns(1), text)
    call require(index(text, 'rank') > 0, 'it is '//text)
    do turn = 0, 1
      call tca_chain_free(chains_of_turns(turn))
    end do
    call tca_window_free(window)
    ierror = tca_ok
  end subroutine

  ! An immediate put, which a chain of signals brings.
  subroutine immediate(world, ierror)
    type(tca_world), intent(in) :: world
    integer, intent(out) :: ierror
    type(tca_window) :: window
    type(tca_chain) :: bell
    complex(real64), pointer, contiguous :: u(:)
    integer :: me

    call tca_world_rank(world, me)
    call tca_window_create(world, [1], [4], u, window)
    call tca_chain_create(world, 'bell', bell)
    call tca_chain_signal(bell, 1 - me)
    call tca_chain_expect(bell, 1 - me)
    call tca_chain_commit(bell)
    call tca_put_now(tca_at(window, 1 - me, 3), cmplx(7.5, me, real64))
    call tca_chain_run(bell)
    call require(nint(2*real(u(3))) == 15 .and. nint(aimag(u(3))) == 1 - me, 'another value has arrived')
    call tca_chain_free(bell)
    call tca_window_free(window)
    ierror = tca_ok
  end subroutine
end module
