! Grids of ranks. Dimensions are in Fortran's order: ranks next to each other along the first one have numbers next to
! each other.
module opentca_grids
  use, intrinsic :: iso_c_binding
  use opentca_calls
  use opentca_errors
  implicit none
  private
  public :: tca_grid_create, tca_grid_choose, tca_grid_coordinates, tca_grid_rank_at, tca_grid_neighbour, tca_grid_part
  public :: grid_in_c

  integer, parameter, public :: tca_max_dims = max_dims

  ! A value, with nothing to free.
  type, public :: tca_grid
    integer :: dims = 0
    integer :: shape(max_dims) = 0             ! how many ranks lie along each dimension
    logical :: periodic(max_dims) = .false.    ! whether its ends are neighbours
  end type

contains

  ! A grid of `shape`, whose product is `ranks`; zeros in it are chosen, by what ranks of an array of `extents` send where
  ! they are given.
  subroutine tca_grid_create(ranks, shape, grid, periodic, extents, ierror)
    integer, intent(in) :: ranks, shape(:)
    type(tca_grid), intent(out) :: grid
    logical, optional, intent(in) :: periodic(:)
    integer, optional, intent(in) :: extents(:)
    integer, optional, intent(out) :: ierror
    integer(c_int64_t), target :: cells(max_dims)
    type(c_ptr) :: cells_of_c
    type(c_grid) :: made
    integer(c_int) :: status

    status = same_dims('tca_grid_create', size(shape), periodic, extents)
    if (status == tca_ok) then
      cells_of_c = c_null_ptr
      if (present(extents)) then
        cells(:size(shape)) = int(extents(size(shape):1:-1), c_int64_t)
        cells_of_c = c_loc(cells)
      end if
      status = c_grid_create(int(ranks, c_int), size(shape, kind=c_int), int(shape(size(shape):1:-1), c_int), &
                             flags(size(shape), periodic), cells_of_c, made)
    end if
    if (status == tca_ok) grid = grid_of(made)
    call settle(status, ierror)
  end subroutine

  ! The grid whose busiest rank sends the least for an array of `extents`.
  subroutine tca_grid_choose(ranks, extents, grid, periodic, ierror)
    integer, intent(in) :: ranks, extents(:)
    type(tca_grid), intent(out) :: grid
    logical, optional, intent(in) :: periodic(:)
    integer, optional, intent(out) :: ierror
    type(c_grid) :: made
    integer(c_int) :: status

    status = same_dims('tca_grid_choose', size(extents), periodic)
    if (status == tca_ok) then
      status = c_grid_choose(int(ranks, c_int), size(extents, kind=c_int), &
                             int(extents(size(extents):1:-1), c_int64_t), flags(size(extents), periodic), made)
    end if
    if (status == tca_ok) grid = grid_of(made)
    call settle(status, ierror)
  end subroutine

  ! Coordinates count from 0 along each dimension, as in MPI.
  subroutine tca_grid_coordinates(grid, rank, coordinates, ierror)
    type(tca_grid), intent(in) :: grid
    integer, intent(in) :: rank
    integer, allocatable, intent(out) :: coordinates(:)
    integer, optional, intent(out) :: ierror
    integer(c_int) :: at(max_dims), status

    at = 0
    status = c_grid_coordinates(grid_in_c(grid), int(rank, c_int), at)
    coordinates = int(at(dims_of(grid):1:-1))
    call settle(status, ierror)
  end subroutine

  subroutine tca_grid_rank_at(grid, coordinates, rank, ierror)
    type(tca_grid), intent(in) :: grid
    integer, intent(in) :: coordinates(:)
    integer, intent(out) :: rank
    integer, optional, intent(out) :: ierror
    integer(c_int) :: found, status

    found = -1
    status = same_dims('tca_grid_rank_at', dims_of(grid), numbers=coordinates)
    if (status == tca_ok) then
      status = c_grid_rank_at(grid_in_c(grid), int(coordinates(size(coordinates):1:-1), c_int), found)
    end if
    rank = found
    call settle(status, ierror)
  end subroutine

  ! The rank `step` steps away along each dimension; -1 past an end that is not periodic.
  subroutine tca_grid_neighbour(grid, rank, step, neighbour, ierror)
    type(tca_grid), intent(in) :: grid
    integer, intent(in) :: rank, step(:)
    integer, intent(out) :: neighbour
    integer, optional, intent(out) :: ierror
    integer(c_int) :: found, status

    found = -1
    status = same_dims('tca_grid_neighbour', dims_of(grid), numbers=step)
    if (status == tca_ok) then
      status = c_grid_neighbour(grid_in_c(grid), int(rank, c_int), int(step(size(step):1:-1), c_int), found)
    end if
    neighbour = found
    call settle(status, ierror)
  end subroutine

  ! The share of `rank` of the elements 1 to `whole` along dimension `dim`: `size` elements from `first` on.
  subroutine tca_grid_part(grid, rank, dim, whole, first, size, ierror)
    type(tca_grid), intent(in) :: grid
    integer, intent(in) :: rank, dim, whole
    integer, intent(out) :: first, size
    integer, optional, intent(out) :: ierror
    integer(c_int64_t) :: begin, count
    integer(c_int) :: status

    begin = 0
    count = 0
    if (dim < 1 .or. dim > grid%dims) then
      status = c_fail(int(tca_invalid_argument, c_int), &
                      terminated('tca_grid_part: there is no such dimension; they count from 1'))
    else
      status = c_grid_part(grid_in_c(grid), int(rank, c_int), int(grid%dims - dim, c_int), int(whole, c_int64_t), &
                           begin, count)
    end if
    first = int(begin) + 1
    size = int(count)
    call settle(status, ierror)
  end subroutine

  ! Refuses lists that have another number of dimensions.
  integer(c_int) function same_dims(call_name, dims, periodic, numbers) result(status)
    character(*), intent(in) :: call_name
    integer, intent(in) :: dims
    logical, optional, intent(in) :: periodic(:)
    integer, optional, intent(in) :: numbers(:)
    character(160) :: sentence

    status = tca_ok
    if (dims < 1 .or. dims > max_dims) then
      write (sentence, '(2a, i0, a, i0)') call_name, ': ', dims, ' dimensions; there are 1 to ', max_dims
      status = c_fail(int(tca_invalid_argument, c_int), terminated(sentence))
      return
    end if
    if (present(periodic)) then
      if (size(periodic) /= dims) status = tca_invalid_argument
    end if
    if (present(numbers)) then
      if (size(numbers) /= dims) status = tca_invalid_argument
    end if
    if (status == tca_ok) return
    write (sentence, '(2a, i0, a)') call_name, ': an argument has not the ', dims, ' dimensions of the grid'
    status = c_fail(status, terminated(sentence))
  end function

  pure integer function dims_of(grid)
    type(tca_grid), intent(in) :: grid

    dims_of = min(max(grid%dims, 0), max_dims)
  end function

  pure type(c_grid) function grid_in_c(grid)
    type(tca_grid), intent(in) :: grid
    integer :: dims

    dims = dims_of(grid)
    grid_in_c%dims = int(grid%dims, c_int)
    grid_in_c%shape(:dims) = int(grid%shape(dims:1:-1), c_int)
    grid_in_c%periodic(:dims) = merge(1_c_int, 0_c_int, grid%periodic(dims:1:-1))
  end function

  pure type(tca_grid) function grid_of(made)
    type(c_grid), intent(in) :: made
    integer :: dims

    dims = made%dims
    grid_of%dims = dims
    grid_of%shape(:dims) = int(made%shape(dims:1:-1))
    grid_of%periodic(:dims) = made%periodic(dims:1:-1) /= 0
  end function

  pure function flags(dims, periodic)
    integer, intent(in) :: dims
    logical, optional, intent(in) :: periodic(:)
    integer(c_int) :: flags(dims)

    flags = 0
    if (present(periodic)) flags = merge(1_c_int, 0_c_int, periodic(dims:1:-1))
  end function
end module
