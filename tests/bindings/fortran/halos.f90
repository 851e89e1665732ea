! Ghosts against the function that the whole array is filled with.
module test_halos
  use, intrinsic :: iso_fortran_env, only: int32, int64, real64
  use opentca
  use ranks
  implicit none
  private
  public :: halos

  ! An array of all ranks, with as many dimensions as its extents have.
  type :: field
    integer :: dims
    integer :: whole(3)
    logical :: periodic(3)
    integer :: width(2, 3)
    logical :: corners
    logical :: by_wait  ! start and wait_for, where it is not run
  end type

  type(field), parameter :: line = field(1, [11, 1, 1], [.true., .false., .false.], reshape([2, 1, 0, 0, 0, 0], [2, 3]), &
                                         .false., .true.)
  type(field), parameter :: plane = field(2, [7, 9, 1], [.false., .true., .false.], reshape([2, 1, 1, 1, 0, 0], [2, 3]), &
                                          .true., .false.)
  type(field), parameter :: box = field(3, [5, 6, 6], [.true., .true., .false.], reshape([1, 1, 1, 1, 1, 1], [2, 3]), &
                                        .false., .false.)

contains

  subroutine halos()
    call grids()
    call run_ranks(2, exchange_line)
    call run_ranks(4, exchange_plane)
    call run_ranks(4, exchange_box)
    call run_ranks(3, fold)
  end subroutine

  ! Each element of a ring gathers what its neighbours' ghosts of it have: sums of complex numbers, and the greatest.
  subroutine fold(world, ierror)
    type(tca_world), intent(in) :: world
    integer, intent(out) :: ierror
    type(tca_grid) :: grid
    type(tca_halo) :: halo
    type(tca_fold) :: back
    type(tca_window) :: charges, peaks
    complex(real64), pointer, contiguous :: charge(:)
    integer(int32), pointer, contiguous :: peak(:)
    integer :: me, ranks, below, above, step
    logical :: finished

    call tca_world_rank(world, me)
    call tca_world_size(world, ranks)
    below = modulo(me - 1, ranks)
    above = modulo(me + 1, ranks)
    call tca_grid_create(ranks, [ranks], grid, [.true.])
    call tca_halo_create(world, 'ring', grid, [1], halo)
    call tca_window_create(world, halo%lower(:1), halo%upper(:1), charge, charges, 'charge')  ! charge(0:2)
    call tca_window_create(world, halo%lower(:1), halo%upper(:1), peak, peaks, 'peak')
    call tca_fold_create(world, 'back', halo, back)
    call tca_fold_add(back, charges, tca_float64)
    call tca_fold_add(back, peaks, tca_int32, operation=tca_max)
    call tca_fold_commit(back)
    call tca_halo_free(halo)
    do step = 1, 2
      charge = [cmplx(10 * me, step, real64), cmplx(step, 1, real64), cmplx(me, -step, real64)]
      peak = [10 * me + step, 5, 20 * me]
      if (step == 1) then
        call tca_fold_run(back)
      else
        call tca_fold_start(back)
        finished = .false.
        do while (.not. finished)
          call tca_fold_test(back, finished)
        end do
        call tca_fold_wait(back)
      end if
      call require(charge(1) == cmplx(step + below + 10 * above, 1, real64), 'another charge')
      call require(peak(1) == max(5, 20 * below, 10 * above + step), 'another peak')
    end do
    call tca_fold_free(back)
    call tca_window_free(peaks)
    call tca_window_free(charges)
    ierror = tca_ok
  end subroutine

  subroutine exchange_line(world, ierror)
    type(tca_world), intent(in) :: world
    integer, intent(out) :: ierror

    call exchange(world, line)
    ierror = tca_ok
  end subroutine

  subroutine exchange_plane(world, ierror)
    type(tca_world), intent(in) :: world
    integer, intent(out) :: ierror

    call exchange(world, plane)
    ierror = tca_ok
  end subroutine

  subroutine exchange_box(world, ierror)
    type(tca_world), intent(in) :: world
    integer, intent(out) :: ierror

    call exchange(world, box)
    ierror = tca_ok
  end subroutine

  subroutine exchange(world, all)
    type(tca_world), intent(in) :: world
    type(field), intent(in) :: all
    type(tca_grid) :: grid
    type(tca_halo) :: halo
    type(tca_window) :: window
    real(real64), pointer, contiguous :: u(:), v(:, :, :)
    integer(int64) :: elements
    integer, allocatable :: extents(:)
    integer :: me, size, d, dims, first(3), own(3), lower(3), upper(3), step
    character(:), allocatable :: text

    dims = all%dims
    call tca_world_rank(world, me)
    call tca_world_size(world, size)
    call tca_grid_choose(size, all%whole(:dims), grid, all%periodic(:dims))
    first = 1
    own = 1
    do d = 1, dims
      call tca_grid_part(grid, me, d, all%whole(d), first(d), own(d))
    end do
    call tca_halo_create(world, 'u', grid, own(:dims), halo, width=all%width(:, :dims), corners=all%corners, &
                         options=tca_chain_options(time_limit=15))
    lower = 1
    upper = 1
    lower(:dims) = 1 - all%width(1, :dims)
    upper(:dims) = own(:dims) + all%width(2, :dims)
    call require(all_equal(halo%lower(:dims), lower(:dims)) .and. all_equal(halo%upper(:dims), upper(:dims)), &
                 'the field has other bounds')
    call tca_halo_extents(halo, extents)
    call require(all_equal(extents, upper(:dims) - lower(:dims) + 1), 'the field has other extents')
    call tca_halo_elements(halo, elements)
    call require(elements == product(upper - lower + 1), 'the field has another size')

    call tca_window_create(world, [1], [int(elements)], u, window, 'u')
    call tca_window_pointer(window, lower, upper, v)  ! dimensions that the field has not are of one element
    call tca_halo_add(halo, window)
    call tca_halo_commit(halo)
    do step = 1, 2
      v = -1
      call visit(all, halo, u, v, first, own, step, is_checked=.false.)
      call exchange_once(halo, all%by_wait)
      call visit(all, halo, u, v, first, own, step, is_checked=.true.)
    end do
    call tca_halo_explain(halo, text)
    call require(len(text) > 0, 'nothing is said of it')
    call tca_halo_free(halo)
    call tca_window_free(window)
  end subroutine

  subroutine exchange_once(halo, by_wait)
    type(tca_halo), intent(in) :: halo
    logical, intent(in) :: by_wait
    logical :: finished

    if (.not. by_wait) then
      call tca_halo_run(halo)
      return
    end if
    call tca_halo_start(halo)
    finished = .false.
    do while (.not. finished)
      call tca_halo_test(halo, finished)
      if (.not. finished) call tca_halo_wait_for(halo, 0.001_real64, finished)
    end do
    call tca_halo_wait(halo)
  end subroutine

  ! Fills the interior, or checks all cells.
  subroutine visit(all, halo, u, v, first, own, step, is_checked)
    type(field), intent(in) :: all
    type(tca_halo), intent(in) :: halo
    real(real64), pointer, contiguous, intent(in) :: u(:), v(:, :, :)
    integer, intent(in) :: first(3), own(3), step
    logical, intent(in) :: is_checked
    real(real64) :: expected
    integer(int64) :: position
    integer :: i, j, k, cell(3), global(3)
    logical :: is_own, is_filled

    do k = lbound(v, 3), ubound(v, 3)
      do j = lbound(v, 2), ubound(v, 2)
        do i = lbound(v, 1), ubound(v, 1)
          cell = [i, j, k]
          call place(all, first, own, cell, global, is_own, is_filled)
          expected = -1
          if (is_filled) expected = value_of(global, step)
          if (is_checked) then
            call tca_halo_index(halo, cell(:all%dims), position)
            call require(nint(v(i, j, k)) == nint(expected), 'a cell has another value')
            call require(nint(u(position)) == nint(expected), 'a cell lies elsewhere')
          else if (is_own) then
            v(i, j, k) = expected
          end if
        end do
      end do
    end do
  end subroutine

  ! Where a cell of this rank's is in the whole array, whether it is of the interior, and whether it has a value after an
  ! exchange.
  subroutine place(all, first, own, cell, global, is_own, is_filled)
    type(field), intent(in) :: all
    integer, intent(in) :: first(3), own(3), cell(3)
    integer, intent(out) :: global(3)
    logical, intent(out) :: is_own, is_filled
    integer :: d, outside

    global = first + cell - 1
    outside = 0
    is_filled = .true.
    do d = 1, all%dims
      if (cell(d) < 1 .or. cell(d) > own(d)) outside = outside + 1
      if (all%periodic(d)) global(d) = modulo(global(d) - 1, all%whole(d)) + 1
      if (global(d) < 1 .or. global(d) > all%whole(d)) is_filled = .false.
    end do
    is_own = outside == 0
    if (outside > 1 .and. .not. all%corners) is_filled = .false.
  end subroutine

  pure real(real64) function value_of(global, step)
    integer, intent(in) :: global(3), step

    value_of = global(1) + 100*(global(2) + 100*(global(3) + 100*step))
  end function

  pure logical function all_equal(some, others)
    integer, intent(in) :: some(:), others(:)

    all_equal = all(some == others)
  end function

  ! Grids know where ranks are: those next to each other along the first dimension have numbers next to each other.
  subroutine grids()
    type(tca_grid) :: grid
    integer, allocatable :: at(:)
    integer :: rank, neighbour, first, size

    call tca_grid_create(6, [0, 2], grid, [.false., .true.], [100, 100])
    call require(all_equal(grid%shape(:2), [3, 2]) .and. .not. grid%periodic(1) .and. grid%periodic(2), 'another grid')
    call tca_grid_coordinates(grid, 5, at)
    call require(all_equal(at, [2, 1]), 'rank 5 is elsewhere')
    call tca_grid_rank_at(grid, [1, 0], rank)
    call require(rank == 1, 'another rank is there')
    call tca_grid_neighbour(grid, 5, [0, 1], neighbour)
    call require(neighbour == 2, 'another neighbour')
    call tca_grid_neighbour(grid, 5, [1, 0], neighbour)
    call require(neighbour == -1, 'there is a neighbour past the end')
    call tca_grid_part(grid, 1, 1, 30, first, size)
    call require(first == 11 .and. size == 10, 'another part')
  end subroutine
end module
