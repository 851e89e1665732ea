! OpenTCA in Fortran: the calls of tca/tca.h, where the same promises are written out, by the same names and in the manner
! of mpi_f08.
!
!     use opentca
!     type(tca_world) :: world
!     type(tca_halo) :: halo
!     type(tca_window) :: window
!     real(real64), pointer, contiguous :: u(:, :)
!     call tca_world_init(world)
!     ...
!     call tca_halo_create(world, 'u', grid, [nx, ny], halo)
!     call tca_window_create(world, halo%lower, halo%upper, u, window)  ! u(0:nx + 1, 0:ny + 1)
!     call tca_halo_add(halo, window)
!     call tca_halo_commit(halo)
!     do step = 1, steps
!       call tca_halo_start(halo)
!       ...                                                             ! overlaps
!       call tca_halo_wait(halo)
!     end do
!
! Build: gfortran $(pkg-config --variable=fortran opentca) PROGRAM.f90 $(pkg-config --libs opentca), or link with
! OpenTCA::fortran in CMake. This file and those that it includes are compiled by the program's own compiler, since no other
! one reads its modules.
!
!   - Every call has `ierror` as its last, optional argument: tca_ok, or what has happened, in words by tca_last_message.
!     Without it a call that fails writes the message to standard error and ends this rank with the status as exit code.
!   - Handles are freed by the program, and never by themselves. A copy is another name for the same object. One that was
!     freed is refused with tca_invalid_argument.
!   - Dimensions are in Fortran's order everywhere, also those of grids of ranks. Indices and positions of elements count
!     from 1, ranks and their coordinates from 0.
!   - In a procedure that starts or waits, an array of a window that is a dummy argument has the attribute `asynchronous`,
!     `target` or `pointer`, or the compiler may keep elements in registers meanwhile.
#include "calls.f90"
#include "errors.f90"
#include "worlds.f90"
#include "windows.f90"
#include "layouts.f90"
#include "chains.f90"
#include "grids.f90"
#include "halos.f90"
#include "collectives.f90"
#include "folds.f90"
#include "counted.f90"
#include "posts.f90"

#define ELEMENT real(real32)
#define DATA_TYPE tca_float32
module opentca_real32
#include "elements.inc"
end module
#undef ELEMENT
#undef DATA_TYPE

#define ELEMENT real(real64)
#define DATA_TYPE tca_float64
module opentca_real64
#include "elements.inc"
end module
#undef ELEMENT
#undef DATA_TYPE

#define ELEMENT integer(int32)
#define DATA_TYPE tca_int32
module opentca_int32
#include "elements.inc"
end module
#undef ELEMENT
#undef DATA_TYPE

#define ELEMENT integer(int64)
#define DATA_TYPE tca_int64
module opentca_int64
#include "elements.inc"
end module
#undef ELEMENT
#undef DATA_TYPE

#define ELEMENT complex(real32)
#define DATA_TYPE tca_other
module opentca_complex32
#include "elements.inc"
end module
#undef ELEMENT
#undef DATA_TYPE

#define ELEMENT complex(real64)
#define DATA_TYPE tca_other
module opentca_complex64
#include "elements.inc"
end module
#undef ELEMENT
#undef DATA_TYPE

module opentca
  use opentca_errors
  use opentca_worlds
  use opentca_windows
  use opentca_layouts
  use opentca_chains
  use opentca_grids
  use opentca_halos
  use opentca_collectives
  use opentca_folds
  use opentca_counted
  use opentca_posts
  use opentca_real32
  use opentca_real64
  use opentca_int32
  use opentca_int64
  use opentca_complex32
  use opentca_complex64
  implicit none
  public
  ! What only the modules above share.
  private :: settle, settle_test, settle_text, terminated, keep_options, kept_options, world_from_fortran
  private :: create_window, check_elements, find_part, cells_between, keep_chain_options, kept_chain_options
  private :: grid_in_c, create_with_memory
end module
