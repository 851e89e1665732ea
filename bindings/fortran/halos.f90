! The ghost cells of arrays that ranks share. Dimensions are in Fortran's order, and the interior of dimension d, of n
! elements, has the indices 1 to n: the ghosts are at 0 and below, and at n + 1 and above.
module opentca_halos
  use, intrinsic :: iso_c_binding
  use, intrinsic :: iso_fortran_env, only: int64, real64
  use opentca_calls
  use opentca_errors
  use opentca_worlds
  use opentca_windows
  use opentca_chains
  use opentca_grids
  implicit none
  private
  public :: tca_halo_create, tca_halo_free, tca_halo_extents, tca_halo_elements, tca_halo_index, tca_halo_add
  public :: tca_halo_commit
  public :: tca_halo_start, tca_halo_test, tca_halo_wait, tca_halo_wait_for, tca_halo_run
  public :: tca_halo_start_on, tca_halo_wait_on, tca_halo_run_on, tca_halo_explain

  ! A handle is what C has, a tca_halo*. A field is an array u(lower(1):upper(1), lower(2):upper(2), ...).
  type, public :: tca_halo
    type(c_ptr) :: handle = c_null_ptr
    integer :: dims = 0
    integer :: lower(max_dims) = 1, upper(max_dims) = 0
  end type

contains

  ! Collective. The ghosts of arrays of which this rank owns `interior` elements along each dimension. width(1, d) ghosts
  ! are below the interior of dimension d, and width(2, d) above it: one each where they are absent. `exchange` is how many
  ! of these are filled, next to the interior (all); `corners` is whether edges and corners are filled too (no).
  subroutine tca_halo_create(world, name, grid, interior, halo, width, exchange, corners, options, ierror)
    type(tca_world), intent(in) :: world
    character(*), intent(in) :: name
    type(tca_grid), intent(in) :: grid
    integer, intent(in) :: interior(:)
    type(tca_halo), intent(out) :: halo
    integer, optional, intent(in) :: width(:, :), exchange(:, :)
    logical, optional, intent(in) :: corners
    type(tca_chain_options), optional, intent(in) :: options
    integer, optional, intent(out) :: ierror
    type(kept_chain_options), target :: kept
    type(c_ghost_width), target :: width_in_c(max_dims), exchange_in_c(max_dims)
    type(c_halo_options) :: c
    integer(c_int) :: status
    integer :: dims

    dims = size(interior)
    status = same_dims(grid%dims, dims, width, exchange)
    if (status == tca_ok) then
      c%size = c_sizeof(c)
      call keep_chain_options(options, kept)
      c%chain = c_loc(kept%c)
      call keep_width(width, width_in_c, c%width)
      call keep_width(exchange, exchange_in_c, c%exchange)
      if (present(corners)) c%corners = merge(1, 0, corners)
      status = c_halo_create(world%handle, terminated(name), grid_in_c(grid), &
                             int(interior(dims:1:-1), c_int64_t), c, halo%handle)
    end if
    if (status == tca_ok) then
      halo%dims = dims
      halo%lower(:dims) = 0
      halo%upper(:dims) = interior + 1
      if (present(width)) then
        halo%lower(:dims) = 1 - width(1, :)
        halo%upper(:dims) = interior + width(2, :)
      end if
    end if
    call settle(status, ierror)
  end subroutine

  integer(c_int) function same_dims(of_grid, dims, width, exchange) result(status)
    integer, intent(in) :: of_grid, dims
    integer, optional, intent(in) :: width(:, :), exchange(:, :)
    character(160) :: sentence

    status = tca_ok
    if (dims /= of_grid .or. dims < 1 .or. dims > max_dims) status = tca_invalid_argument
    if (present(width)) then
      if (any(shape(width) /= [2, dims])) status = tca_invalid_argument
    end if
    if (present(exchange)) then
      if (any(shape(exchange) /= [2, dims])) status = tca_invalid_argument
    end if
    if (status == tca_ok) return
    write (sentence, '(2(a, i0), a)') 'tca_halo_create: the grid has ', of_grid, ' dimensions, the interior ', dims, &
      ', and widths are arrays (2, dimensions)'
    status = c_fail(status, terminated(sentence))
  end function

  ! Widths as C takes them; those that are absent are its defaults.
  subroutine keep_width(width, kept, address)
    integer, optional, intent(in) :: width(:, :)
    type(c_ghost_width), target, intent(inout) :: kept(max_dims)
    type(c_ptr), intent(inout) :: address
    integer :: d, dims

    if (.not. present(width)) return
    dims = size(width, 2)
    do d = 1, dims
      kept(d) = c_ghost_width(width(1, dims + 1 - d), width(2, dims + 1 - d))
    end do
    address = c_loc(kept)
  end subroutine

  subroutine tca_halo_free(halo, ierror)
    type(tca_halo), intent(inout) :: halo
    integer, optional, intent(out) :: ierror
    integer(c_int) :: status

    status = c_halo_free(halo%handle)
    if (status == tca_ok) halo = tca_halo()
    call settle(status, ierror)
  end subroutine

  ! The extents of a field, ghosts included: upper - lower + 1.
  subroutine tca_halo_extents(halo, extents, ierror)
    type(tca_halo), intent(in) :: halo
    integer, allocatable, intent(out) :: extents(:)
    integer, optional, intent(out) :: ierror
    integer(c_int64_t) :: all(max_dims)
    integer(c_int) :: status

    all = 0
    status = c_halo_extents(halo%handle, all)
    extents = int(all(halo%dims:1:-1))
    call settle(status, ierror)
  end subroutine

  ! Their product.
  subroutine tca_halo_elements(halo, elements, ierror)
    type(tca_halo), intent(in) :: halo
    integer(int64), intent(out) :: elements
    integer, optional, intent(out) :: ierror
    integer(c_int) :: status

    elements = 0
    status = c_halo_elements(halo%handle, elements)
    call settle(status, ierror)
  end subroutine

  ! The position of the element u(cell(1), cell(2), ...) of a field in the order of Fortran, from 1.
  subroutine tca_halo_index(halo, cell, position, ierror)
    type(tca_halo), intent(in) :: halo
    integer, intent(in) :: cell(:)
    integer(int64), intent(out) :: position
    integer, optional, intent(out) :: ierror
    integer(c_int64_t) :: offset
    integer(c_int) :: status

    offset = -1
    if (c_associated(halo%handle) .and. size(cell) /= halo%dims) then
      status = c_fail(int(tca_invalid_argument, c_int), terminated('tca_halo_index: a cell has an index for each dimension'))
    else
      status = c_halo_index(halo%handle, int(cell(size(cell):1:-1), c_int64_t) - 1, offset)
    end if
    position = offset + 1
    call settle(status, ierror)
  end subroutine

  ! Adds a field, which begins at element `position` (1) of this rank's part of a window.
  subroutine tca_halo_add(halo, window, position, ierror)
    type(tca_halo), intent(in) :: halo
    type(tca_window), intent(in) :: window
    integer(int64), optional, intent(in) :: position
    integer, optional, intent(out) :: ierror
    integer(c_int64_t) :: offset

    offset = 0
    if (present(position)) offset = position - 1
    call settle(c_halo_add(halo%handle, window%handle, offset), ierror)
  end subroutine

  ! Collective.
  subroutine tca_halo_commit(halo, ierror)
    type(tca_halo), intent(in) :: halo
    integer, optional, intent(out) :: ierror

    call settle(c_halo_commit(halo%handle), ierror)
  end subroutine

  ! These are as the calls of a chain.
  subroutine tca_halo_start(halo, ierror)
    type(tca_halo), intent(in) :: halo
    integer, optional, intent(out) :: ierror

    call settle(c_halo_start(halo%handle), ierror)
  end subroutine

  subroutine tca_halo_test(halo, finished, ierror)
    type(tca_halo), intent(in) :: halo
    logical, intent(out) :: finished
    integer, optional, intent(out) :: ierror

    call settle_test(c_halo_test(halo%handle), finished, ierror)
  end subroutine

  subroutine tca_halo_wait(halo, ierror)
    type(tca_halo), intent(in) :: halo
    integer, optional, intent(out) :: ierror

    call settle(c_halo_wait(halo%handle), ierror)
  end subroutine

  subroutine tca_halo_wait_for(halo, seconds, finished, ierror)
    type(tca_halo), intent(in) :: halo
    real(real64), intent(in) :: seconds
    logical, intent(out) :: finished
    integer, optional, intent(out) :: ierror

    call settle_test(c_halo_wait_for(halo%handle, seconds), finished, ierror)
  end subroutine

  subroutine tca_halo_run(halo, ierror)
    type(tca_halo), intent(in) :: halo
    integer, optional, intent(out) :: ierror

    call settle(c_halo_run(halo%handle), ierror)
  end subroutine

  subroutine tca_halo_start_on(halo, stream, ierror)
    type(tca_halo), intent(in) :: halo
    type(c_ptr), intent(in) :: stream
    integer, optional, intent(out) :: ierror

    call settle(c_halo_start_on(halo%handle, stream), ierror)
  end subroutine

  subroutine tca_halo_wait_on(halo, stream, ierror)
    type(tca_halo), intent(in) :: halo
    type(c_ptr), intent(in) :: stream
    integer, optional, intent(out) :: ierror

    call settle(c_halo_wait_on(halo%handle, stream), ierror)
  end subroutine

  subroutine tca_halo_run_on(halo, stream, ierror)
    type(tca_halo), intent(in) :: halo
    type(c_ptr), intent(in) :: stream
    integer, optional, intent(out) :: ierror

    call settle(c_halo_run_on(halo%handle, stream), ierror)
  end subroutine

  subroutine tca_halo_explain(halo, text, ierror)
    type(tca_halo), intent(in) :: halo
    character(:), allocatable, intent(out) :: text
    integer, optional, intent(out) :: ierror

    call settle_text(c_halo_explain, halo%handle, text, ierror)
  end subroutine
end module
