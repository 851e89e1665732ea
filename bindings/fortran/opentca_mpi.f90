! A world within a Fortran program that uses MPI itself:
!
!     use mpi_f08
!     use opentca
!     use opentca_mpi
!     call MPI_Init()
!     call tca_world_from_mpi(MPI_COMM_WORLD, world)
!
! Build with the MPI that OpenTCA was built with: mpifort $(pkg-config --variable=fortran opentca) $(pkg-config
! --variable=fortran opentca-mpi) PROGRAM.f90 $(pkg-config --libs opentca), or link with OpenTCA::fortran_mpi in CMake. A
! program that meets an error should end by MPI_Abort(MPI_COMM_WORLD, ierror).
module opentca_mpi
  use mpi_f08, only: MPI_Comm, MPI_Get_library_version, MPI_MAX_LIBRARY_VERSION_STRING
  use opentca_worlds
  implicit none
  private
  public :: tca_world_from_mpi

  ! Collective over `comm`, of mpi_f08 or of the module mpi. Free every world, window and chain before MPI_Finalize.
  interface tca_world_from_mpi
    module procedure from_mpi_f08, from_mpi
  end interface

contains

  subroutine from_mpi_f08(comm, world, options, ierror)
    type(MPI_Comm), intent(in) :: comm
    type(tca_world), intent(out) :: world
    type(tca_world_options), optional, intent(in) :: options
    integer, optional, intent(out) :: ierror

    call world_from_fortran(comm%MPI_VAL, trim(name_of_mpi()), world, options, ierror)
  end subroutine

  subroutine from_mpi(comm, world, options, ierror)
    integer, intent(in) :: comm
    type(tca_world), intent(out) :: world
    type(tca_world_options), optional, intent(in) :: options
    integer, optional, intent(out) :: ierror

    call world_from_fortran(comm, trim(name_of_mpi()), world, options, ierror)
  end subroutine

  ! What an MPI's own mpi.h says of it; those that descend from MPICH are told by not being Open MPI.
  function name_of_mpi() result(name)
    character(8) :: name
    character(MPI_MAX_LIBRARY_VERSION_STRING) :: version
    integer :: length

    call MPI_Get_library_version(version, length)
    name = 'MPICH'
    if (index(version(:length), 'Open MPI') == 1) name = 'Open MPI'
  end function
end module
