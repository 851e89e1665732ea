! The heat equation on a plate with a hot edge, distributed over all ranks, in Fortran. Every rank checks its part against a
! run of the whole plate by itself.
!
!   gfortran -O2 $(pkg-config --variable=fortran opentca) heat.f90 $(pkg-config --libs opentca) -o heat
!   tca run -n 4 -- ./heat [cells along a side] [steps]
program heat
  use, intrinsic :: iso_fortran_env, only: error_unit, real64
  use opentca
  implicit none
  type(tca_world) :: world
  type(tca_halo) :: halo
  type(tca_window) :: window
  real(real64), pointer, contiguous :: u(:, :)
  real(real64) :: worst
  integer :: n, steps, rank, first(2), cells(2)

  n = argument(1, 128)
  steps = argument(2, 200)
  if (n < 2 .or. steps < 1) then
    write (error_unit, '(a)') 'usage: heat [cells along a side] [steps]'
    stop tca_invalid_argument
  end if
  call tca_world_init(world)  ! a call that fails says why, and ends this rank
  call tca_world_rank(world, rank)
  call make_plate()
  call run()
  worst = largest(difference())
  if (rank == 0) then
    print '(i0, a, i0, a, i0, 2a)', n, ' x ', n, ' cells, ', steps, ' steps: ', &
      trim(merge('as by one rank', 'WRONG         ', worst < 1e-9_real64))
  end if
  call tca_halo_free(halo)
  call tca_window_free(window)
  call tca_world_free(world)
  if (.not. worst < 1e-9_real64) error stop 1

contains

  integer function argument(number, default)
    integer, intent(in) :: number, default
    character(20) :: text
    integer :: status

    argument = default
    if (command_argument_count() < number) return
    call get_command_argument(number, text)
    read (text, *, iostat=status) argument
    if (status /= 0) argument = 0
  end function

  ! My cells of the plate, with a ghost on every side. At the rim of the plate the ghosts are its fixed edge.
  subroutine make_plate()
    type(tca_grid) :: grid
    integer :: d, size

    call tca_world_size(world, size)
    call tca_grid_choose(size, [n, n], grid)
    do d = 1, 2
      call tca_grid_part(grid, rank, d, n, first(d), cells(d))
    end do
    call tca_halo_create(world, 'heat', grid, cells, halo)
    call tca_window_create(world, halo%lower, halo%upper, u, window, 'plate')  ! u(0:cells(1) + 1, 0:cells(2) + 1)
    call tca_halo_add(halo, window)
    call tca_halo_commit(halo)
    if (first(1) == 1) u(0, :) = 100
  end subroutine

  subroutine run()
    real(real64), allocatable :: next(:, :)
    integer :: s, nx, ny

    nx = cells(1)
    ny = cells(2)
    allocate (next(nx, ny))
    do s = 1, steps
      call tca_halo_start(halo)
      call step(u, next, 2, nx - 1, 2, ny - 1)  ! needs no ghosts, so it overlaps the exchange
      call tca_halo_wait(halo)
      call step(u, next, 1, nx, 1, 1)
      call step(u, next, 1, nx, ny, ny)
      call step(u, next, 1, 1, 2, ny - 1)
      call step(u, next, nx, nx, 2, ny - 1)
      u(1:nx, 1:ny) = next
    end do
  end subroutine

  ! Computes new temperatures in columns j0 to j1, from i0 to i1.
  subroutine step(u, next, i0, i1, j0, j1)
    real(real64), intent(in) :: u(0:, 0:)
    real(real64), intent(inout) :: next(:, :)
    integer, intent(in) :: i0, i1, j0, j1
    integer :: i, j

    do j = j0, j1
      do i = i0, i1
        next(i, j) = u(i, j) + 0.2_real64*(u(i - 1, j) + u(i + 1, j) + u(i, j - 1) + u(i, j + 1) - 4*u(i, j))
      end do
    end do
  end subroutine

  ! The farthest that a cell of mine is from the same one of a plate on one rank.
  real(real64) function difference()
    real(real64), allocatable :: whole(:, :), next(:, :), off(:, :)
    integer :: s

    allocate (whole(0:n + 1, 0:n + 1), source=0.0_real64)
    allocate (next(n, n))
    whole(0, :) = 100
    do s = 1, steps
      call step(whole, next, 1, n, 1, n)
      whole(1:n, 1:n) = next
    end do
    associate (nx => cells(1), ny => cells(2))
      off = abs(u(1:nx, 1:ny) - whole(first(1):first(1) + nx - 1, first(2):first(2) + ny - 1))
    end associate
    difference = maxval(off)
    if (.not. all(off <= difference)) difference = huge(difference)  ! there is a NaN, which maxval passes over
  end function

  ! The largest of all ranks' values.
  real(real64) function largest(mine)
    real(real64), intent(in) :: mine
    real(real64), pointer, contiguous :: given(:), found(:)
    type(tca_collective) :: all

    call tca_collective_create(world, tca_all_reduce, 'largest', 1, given, found, all, &
                               tca_collective_options(operation=tca_max))
    given(1) = mine
    call tca_collective_run(all)
    largest = found(1)
    call tca_collective_free(all)
  end function
end program
