// MPI in a process that OpenTCA has brought up.
#pragma once

// The C interface only; the C++ bindings that some mpi.h still bring would have to be linked.
#define OMPI_SKIP_MPICXX 1
#define MPICH_SKIP_MPICXX 1
#include <mpi.h>

#include "tca/error.hpp"
#include "tca/world.hpp"

namespace tca::bench {

// Initialises MPI unless that has been done. Throws Error{invalid_argument} when it counts other ranks.
void join_mpi(const World& world);

}  // namespace tca::bench
