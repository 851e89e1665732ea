// Finds out whether MPI sends messages between memories of accelerators.
#pragma once

#include "control/mpi/call.hpp"
#include "fabric/staging.hpp"

namespace tca::mpi {

// Returns whether MPI claims to accept accelerators' memory, unless OPENTCA_CUDA_AWARE (`on` or `off`)
// decides. Throws Error{invalid_argument} for any other value of that variable.
bool claims_accelerator_memory();

// Returns whether MPI accepts the stager's memory as it does the host's. MPI has to claim this, as above;
// it is then tried with a message from this rank to itself.
bool takes_accelerator_memory(MPI_Comm comm, fabric::Stager& stager);

}  // namespace tca::mpi
