// A world within a program that uses MPI itself.
//
//   MPI_Init(&argc, &argv);
//   tca::World world = tca::World::from_mpi(MPI_COMM_WORLD);
//
// The world has a communicator of its own, so its messages never meet the program's. It calls MPI from the thread that calls
// it (MPI_THREAD_FUNNELED is enough). Link the program with the MPI that OpenTCA was built with.
//
// A program may have several worlds at once, on communicators that share processes. A rank that waits in one of them moves on
// nothing of the others: every rank has to wait for the chains of different worlds in the same order, as it makes collective
// calls. Where that cannot be, test the chains in turn instead of waiting for one of them (Chain::test).
//
// A program that catches an Error ends by MPI_Abort(MPI_COMM_WORLD, error.exit_code()): MPI_Finalize waits for every rank,
// also for one that has died or hangs.
#pragma once

#include <mpi.h>

#include <type_traits>

#include "tca/world.hpp"

namespace tca {

// Collective over `comm`, whose ranks the world's are. Ranks of a host share memory, MPI connects the rest: the fabric
// is "shm+mpi" unless `options` or OPENTCA_FABRIC say otherwise. Destroy every World, window and chain before
// MPI_Finalize: this rank then leaves a world that is still there, which may be destroyed afterwards but not used. Throws
// Error{incompatible} when the program was compiled with another MPI than OpenTCA or MPI lacks the thread level that
// the options need, Error{invalid_argument} outside MPI_Init and MPI_Finalize, and whatever World::init throws.
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
  return from_mpi_handle(&comm, sizeof comm, header, options);
}

}  // namespace tca
