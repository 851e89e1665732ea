// MPI in a process in which OpenTCA runs already.
#pragma once

// Only the C interface: the C++ bindings that some mpi.h still declare would have to be linked.
#define OMPI_SKIP_MPICXX 1
#define MPICH_SKIP_MPICXX 1
#include <mpi.h>

#include "tca/error.hpp"
#include "tca/world.hpp"

namespace tca::bench {

// Initialises MPI unless that has been done. Throws Error{invalid_argument} when MPI's number of ranks is not
// the world's.
void join_mpi(const World& world);

}  // namespace tca::bench
