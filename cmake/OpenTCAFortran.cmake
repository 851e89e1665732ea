# The modules of OpenTCA for programs in Fortran, compiled by the project's own compiler, since no other one reads them:
# opentca_add_fortran(FOLDER WITH_MPI) makes OpenTCA::fortran of the sources in FOLDER and, where OpenTCA has MPI and
# MPI::MPI_Fortran is there with mpi_f08, OpenTCA::fortran_mpi.
function(opentca_add_fortran folder with_mpi)
  opentca_add_fortran_library(fortran ${folder}/opentca.F90 OpenTCA::c)
  if(with_mpi AND TARGET MPI::MPI_Fortran AND MPI_Fortran_HAVE_F08_MODULE)
    opentca_add_fortran_library(fortran_mpi ${folder}/opentca_mpi.f90 OpenTCA::fortran MPI::MPI_Fortran)
  endif()
endfunction()

# A static library, built where something links with it, and the folder of its modules.
function(opentca_add_fortran_library name source)
  set(modules ${CMAKE_CURRENT_BINARY_DIR}/opentca_${name}_modules)
  add_library(opentca_${name} STATIC EXCLUDE_FROM_ALL ${source})
  add_library(OpenTCA::${name} ALIAS opentca_${name})
  set_target_properties(opentca_${name} PROPERTIES Fortran_MODULE_DIRECTORY ${modules} POSITION_INDEPENDENT_CODE ON)
  target_include_directories(opentca_${name} INTERFACE ${modules})
  target_link_libraries(opentca_${name} PUBLIC ${ARGN})
endfunction()
