// Finds out whether MPI sends messages between memory of accelerators.
#pragma once

#include "control/mpi/call.hpp"
#include "fabric/staging.hpp"

namespace tca::mpi {

// Returns whether MPI says that it takes accelerators' memory, unless OPENTCA_CUDA_AWARE (`on` or `off`)
// answers for it. Throws Error{invalid_argument} for another value of that.
bool claims_accelerator_memory();

// Returns whether MPI takes the stager's memory as it takes the host's. MPI has to claim this, as above,
// and it is then tried with a message of this rank to itself.
bool takes_accelerator_memory(MPI_Comm comm, fabric::Stager& stager);

}  // namespace tca::mpi
