/// @file
/// A world within a program that uses MPI itself.
///
///     MPI_Init(&argc, &argv);
///     tca::World world = tca::World::from_mpi(MPI_COMM_WORLD);
///
/// The world duplicates the communicator, so its messages never match the program's. It calls MPI from the
/// thread that calls it (MPI_THREAD_FUNNELED is enough). Compile and link the program with the MPI that
/// OpenTCA was built with: use OpenTCA::mpi in CMake, opentca-mpi in pkg-config, or mpicxx.
///
/// A program may have several worlds at once, on communicators that share processes. Waiting in one world
/// does not progress the others, so every rank must wait for the chains of different worlds in the same
/// order. If it cannot, it tests the chains in turn (Chain::test) instead of waiting for one of them.
///
/// A program that catches an Error should end with MPI_Abort(MPI_COMM_WORLD, error.exit_code()):
/// MPI_Finalize waits for every rank, even for one that has died or hangs.
#pragma once

#include "tca/detail/language.hpp"

#if !__has_include(<mpi.h>)
#error "tca/mpi.hpp needs mpi.h: link with OpenTCA::mpi in CMake, or compile with mpicxx"
#include <no_header_without_mpi>  // which ends the compiler here
#endif

#include <mpi.h>

#include <type_traits>

#include "tca/world.hpp"

namespace tca {

/// Collective over `comm`. The world has the same ranks, whatever topology `comm` has, and leaves its error
/// handler as it is. The fabric is "shm+mpi" unless `options` or OPENTCA_FABRIC name another one. Destroy
/// every World, window and chain before MPI_Finalize, in which this rank leaves the worlds that still
/// exist; those may then be destroyed, but not used.
///
/// Throws Error{incompatible} if the program was compiled with another MPI than OpenTCA, or if MPI lacks
/// the thread level that the options need. Throws Error{invalid_argument} for an inter-communicator, for
/// one that is null or freed, before MPI_Init and after MPI_Finalize, and what World::init throws.
template <class Comm>
World World::from_mpi(Comm comm, const WorldOptions& options) {
  static_assert(std::is_same_v<Comm, MPI_Comm>, "World::from_mpi takes an MPI_Comm");
#if defined(OMPI_MAJOR_VERSION)
  constexpr const char* header = "Open MPI";
#elif defined(MPICH_VERSION)
  constexpr const char* header = "MPICH";
#else
  constexpr const char* header = "another MPI";
#endif
  return from_mpi_handle(&comm, sizeof(MPI_Comm), header, options);
}

}  // namespace tca
