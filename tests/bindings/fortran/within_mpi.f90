! A world within MPI: each rank puts its number to the next one, over shared memory or MPI, as the world chooses.
program within_mpi
  use, intrinsic :: iso_c_binding, only: c_associated
  use, intrinsic :: iso_fortran_env, only: error_unit
  use mpi_f08
  use opentca
  use opentca_mpi
  implicit none
  character(7), parameter :: fabrics(3) = ['       ', 'mpi    ', 'shm+mpi']
  type(tca_world) :: world
  integer :: i, ierror

  call MPI_Init()
  do i = 1, size(fabrics)
    call tca_world_from_mpi(MPI_COMM_WORLD, world, tca_world_options(fabric=fabrics(i)))
    call ring()
    call tca_world_free(world)
  end do
  ! That of the module mpi is a number.
  call tca_world_from_mpi(MPI_COMM_WORLD%MPI_VAL, world)
  call ring()
  call tca_world_free(world)
  call tca_world_from_mpi(MPI_COMM_NULL, world, ierror=ierror)
  if (ierror /= tca_invalid_argument .or. c_associated(world%handle)) call fail('a world of no communicator')
  if (index(tca_last_message(), 'communicator') == 0) call fail(tca_last_message())
  call MPI_Finalize()

contains

  subroutine fail(what)
    character(*), intent(in) :: what

    write (error_unit, '(3a)') what, ': ', tca_last_message()
    call MPI_Abort(MPI_COMM_WORLD, 1)
  end subroutine

  subroutine ring()
    type(tca_window) :: window
    type(tca_chain) :: chain
    type(tca_layout) :: one
    integer, pointer, contiguous :: u(:)
    integer :: me, size, mpi_rank

    call tca_world_rank(world, me)
    call tca_world_size(world, size)
    call MPI_Comm_rank(MPI_COMM_WORLD, mpi_rank)
    if (me /= mpi_rank) call fail('ranks have other numbers')
    call tca_window_create(world, [1], [2], u, window, 'u')
    call tca_layout_block(1, one)
    call tca_chain_create(world, 'ring', chain)
    call tca_chain_put(chain, tca_at(window, modulo(me + 1, size), 2), one, tca_here(window))
    call tca_chain_expect(chain, modulo(me - 1, size))
    call tca_chain_commit(chain)
    u(1) = me
    call tca_chain_run(chain)
    if (u(2) /= modulo(me - 1, size)) call fail('another number has arrived')
    call tca_chain_free(chain)
    call tca_window_free(window)
  end subroutine
end program
