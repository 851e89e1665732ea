// Messages between memory of accelerators, by an MPI that takes it.
#pragma once

#include "fabric/mpi/call.hpp"
#include "fabric/staging.hpp"

namespace tca::mpi {

// Whether MPI says that it takes accelerators' memory, unless OPENTCA_CUDA_AWARE (`on` or `off`) answers for it. Throws
// Error{invalid_argument} for another answer.
bool claims_accelerator_memory();

// Whether MPI takes the stager's memory as it takes the host's: claimed, as above, and then tried with a message of this
// rank to itself.
bool takes_accelerator_memory(MPI_Comm comm, fabric::Stager& stager);

}  // namespace tca::mpi
