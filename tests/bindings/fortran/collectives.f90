! Every kind of collective against what a loop over all ranks gives.
module test_collectives
  use, intrinsic :: iso_c_binding
  use, intrinsic :: iso_fortran_env, only: int32, int64, real32, real64
  use opentca
  use ranks
  implicit none
  private
  public :: collectives

  integer, parameter :: count = 5
  integer, parameter :: kinds(5) = [tca_broadcast, tca_all_gather, tca_all_reduce, tca_reduce_scatter, tca_all_to_all]

contains

  subroutine collectives()
    call run_ranks(3, every_kind)
    call run_ranks(3, every_type)
    call run_ranks(3, own_operation_and_barrier)
  end subroutine

  pure integer(int64) function value_of(rank, step, element)
    integer, intent(in) :: rank, step, element

    value_of = 1000*(rank + 1) + 100*step + element
  end function

  ! What `element` (1) of this rank's output is.
  pure integer(int64) function expected_of(kind, me, ranks_of_all, step, element)
    integer, intent(in) :: kind, me, ranks_of_all, step, element
    integer :: block, within, rank

    block = (element - 1)/count
    within = element - block*count
    expected_of = 0
    select case (kind)
    case (tca_broadcast)
      expected_of = value_of(1, step, element)  ! from the root
    case (tca_all_gather)
      expected_of = value_of(block, step, within)
    case (tca_all_reduce)
      do rank = 0, ranks_of_all - 1
        expected_of = expected_of + value_of(rank, step, element)
      end do
    case (tca_reduce_scatter)
      do rank = 0, ranks_of_all - 1
        expected_of = expected_of + value_of(rank, step, me*count + element)
      end do
    case default  ! block r is what rank r has for me
      expected_of = value_of(block, step, me*count + within)
    end select
  end function

  subroutine every_kind(world, ierror)
    type(tca_world), intent(in) :: world
    integer, intent(out) :: ierror
    integer :: i

    do i = 1, size(kinds)
      call check_with_memory(world, kinds(i))
      call check_between_windows(world, kinds(i))
    end do
    ierror = tca_ok
  end subroutine

  subroutine check_with_memory(world, kind)
    type(tca_world), intent(in) :: world
    integer, intent(in) :: kind
    type(tca_collective) :: all
    integer(int64), pointer, contiguous :: from(:), to(:)

    call tca_collective_create(world, kind, 'all', count, from, to, all, tca_collective_options(root=1, time_limit=15))
    call check_steps(world, kind, all, from, to)
    call tca_collective_free(all)
  end subroutine

  subroutine check_between_windows(world, kind)
    type(tca_world), intent(in) :: world
    integer, intent(in) :: kind
    type(tca_collective) :: all
    type(tca_window) :: from_window, to_window
    integer(int64), pointer, contiguous :: from(:), to(:)
    integer :: size

    call tca_world_size(world, size)
    call tca_window_create(world, [1], [blocks_in(kind, size)*count], from, from_window, 'from')
    if (kind == tca_broadcast) then
      to => from
      call tca_collective_create(world, kind, 'all', tca_int64, count, from_window, all, &
                                 options=tca_collective_options(root=1))
    else
      call tca_window_create(world, [1], [blocks_out(kind, size)*count], to, to_window, 'to')
      call tca_collective_create(world, kind, 'all', tca_int64, count, from_window, all, to=to_window)
    end if
    call check_steps(world, kind, all, from, to)
    call tca_collective_free(all)
    call tca_window_free(from_window)
    call tca_window_free(to_window)
  end subroutine

  pure integer function blocks_in(kind, size)
    integer, intent(in) :: kind, size

    blocks_in = merge(size, 1, kind == tca_reduce_scatter .or. kind == tca_all_to_all)
  end function

  pure integer function blocks_out(kind, size)
    integer, intent(in) :: kind, size

    blocks_out = merge(size, 1, kind == tca_all_gather .or. kind == tca_all_to_all)
  end function

  subroutine check_steps(world, kind, all_of_it, from, to)
    type(tca_world), intent(in) :: world
    integer, intent(in) :: kind
    type(tca_collective), intent(in) :: all_of_it
    integer(int64), pointer, contiguous, intent(in) :: from(:), to(:)
    integer :: me, ranks_of_all, step, i

    call tca_world_rank(world, me)
    call tca_world_size(world, ranks_of_all)
    call require(size(from) == blocks_in(kind, ranks_of_all)*count, 'there is another size to give')
    call require(size(to) == blocks_out(kind, ranks_of_all)*count, 'there is another size to get')
    do step = 1, 3
      from = [(value_of(me, step, i), i=1, size(from))]
      call run_by_some_call(all_of_it, step)
      do i = 1, size(to)
        call require(to(i) == expected_of(kind, me, ranks_of_all, step, i), 'an element has another value')
      end do
    end do
  end subroutine

  subroutine run_by_some_call(all, step)
    type(tca_collective), intent(in) :: all
    integer, intent(in) :: step
    logical :: finished

    if (step == 1) then
      call tca_collective_run(all)
      return
    end if
    call tca_collective_start(all)
    finished = .false.
    do while (.not. finished)
      if (step == 2) call tca_collective_test(all, finished)
      if (step == 3) call tca_collective_wait_for(all, 0.001_real64, finished)
    end do
    call tca_collective_wait(all)
  end subroutine

  ! Sums and extremes of each type that has them, and complex numbers, which move as they are.
  subroutine every_type(world, ierror)
    type(tca_world), intent(in) :: world
    integer, intent(out) :: ierror
    real(real32), pointer, contiguous :: r4(:), to_r4(:)
    real(real64), pointer, contiguous :: r8(:), to_r8(:)
    integer(int32), pointer, contiguous :: i4(:), to_i4(:)
    complex(real64), pointer, contiguous :: z(:), to_z(:)
    type(tca_collective) :: all
    integer :: me, size

    call tca_world_rank(world, me)
    call tca_world_size(world, size)
    call tca_collective_create(world, tca_all_reduce, 'r4', 1, r4, to_r4, all, tca_collective_options(operation=tca_max))
    r4 = -me
    call tca_collective_run(all)
    call require(nint(to_r4(1)) == 0, 'the largest is another')
    call tca_collective_free(all)
    call tca_collective_create(world, tca_all_reduce, 'r8', 2, r8, to_r8, all, tca_collective_options(operation=tca_min))
    r8 = [me, -me]
    call tca_collective_run(all)
    call require(nint(to_r8(1)) == 0 .and. nint(to_r8(2)) == 1 - size, 'the smallest are others')
    call tca_collective_free(all)
    call tca_collective_create(world, tca_all_reduce, 'i4', 1, i4, to_i4, all, tca_collective_options(operation=tca_product))
    i4 = me + 1
    call tca_collective_run(all)
    call require(to_i4(1) == 6, 'the product is another')
    call tca_collective_free(all)
    call tca_collective_create(world, tca_all_gather, 'z', 1, z, to_z, all)
    z = cmplx(me, -me, real64)
    call tca_collective_run(all)
    call require(nint(real(to_z(size))) == size - 1 .and. nint(aimag(to_z(size))) == 1 - size, 'another number has come')
    call tca_collective_free(all)
    ierror = tca_ok
  end subroutine

  ! Keeps the two largest numbers of pairs, the larger one first.
  subroutine two_largest(into, left, right, pairs, context) bind(c, name='')
    type(c_ptr), value :: into, left, right, context
    integer(c_size_t), value :: pairs
    integer(c_int32_t), pointer :: a(:, :), b(:, :), both(:, :), calls
    integer(c_int32_t) :: high(2), low(2)
    integer(c_size_t) :: i

    call c_f_pointer(into, both, [2_c_size_t, pairs])
    call c_f_pointer(left, a, [2_c_size_t, pairs])
    call c_f_pointer(right, b, [2_c_size_t, pairs])
    call c_f_pointer(context, calls)
    do i = 1, pairs
      high = merge(a(:, i), b(:, i), a(1, i) > b(1, i))
      low = merge(b(:, i), a(:, i), a(1, i) > b(1, i))
      both(:, i) = [high(1), max(low(1), high(2))]
    end do
    calls = calls + 1
  end subroutine

  subroutine own_operation_and_barrier(world, ierror)
    type(tca_world), intent(in) :: world
    integer, intent(out) :: ierror
    type(tca_window) :: window
    type(tca_collective) :: all, meet
    integer(int64), pointer, contiguous :: pairs(:)
    integer(c_int32_t), target :: calls
    integer(c_int32_t) :: best(2)
    character(:), allocatable :: text
    integer :: me, size, i

    call tca_world_rank(world, me)
    call tca_world_size(world, size)
    calls = 0
    call tca_window_create(world, [1], [1], pairs, window, 'pairs')  ! a pair is as large as one of its elements
    call tca_collective_create(world, tca_all_reduce, 'two largest', tca_other, 1, window, all, options= &
                               tca_collective_options(algorithm='flat', combine=c_funloc(two_largest), context=c_loc(calls)))
    call tca_collective_algorithm(all, text)
    call require(text == 'flat', 'it is '//text)
    call tca_collective_explain(all, text)
    call require(index(text, 'flat') > 0, 'it is '//text)
    pairs(1) = transfer([int(10*me, c_int32_t), -1_c_int32_t], pairs(1))
    call tca_collective_run(all)
    best = transfer(pairs(1), best)
    call require(best(1) == 10*(size - 1) .and. best(2) == 10*(size - 2), 'other numbers are the largest')
    call require(calls > 0, 'the operation was not called')
    call tca_collective_free(all)
    call tca_window_free(window)

    call tca_collective_create(world, tca_barrier, 'meet', meet)
    do i = 1, 3
      call tca_collective_run(meet)
    end do
    call tca_collective_free(meet)
    ierror = tca_ok
  end subroutine
end module
