/// @file
/// A world within a C program that uses MPI itself; tca/mpi.hpp describes the rules:
///
///     MPI_Init(&argc, &argv);
///     tca_world_from_mpi(MPI_COMM_WORLD, NULL, &world);
///
/// Compile and link with the MPI that OpenTCA was built with: use opentca-mpi in pkg-config, OpenTCA::mpi
/// in CMake, or mpicc. A program that meets an error should end with MPI_Abort(MPI_COMM_WORLD, status).
#ifndef TCA_TCA_MPI_H
#define TCA_TCA_MPI_H

#include <mpi.h>

#include "tca/tca.h"

/// Collective over `comm`; see World::from_mpi. Free every world, window and chain before MPI_Finalize.
static inline tca_status tca_world_from_mpi(MPI_Comm comm, const tca_world_options* options,
                                            tca_world** world) {
#if defined(OMPI_MAJOR_VERSION)
  const char* const mpi = "Open MPI";
#elif defined(MPICH_VERSION)
  const char* const mpi = "MPICH";
#else
  const char* const mpi = "another MPI";
#endif
  return tca_world_from_mpi_handle(&comm, sizeof comm, mpi, options, world);
}

#endif
