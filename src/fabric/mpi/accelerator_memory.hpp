// Messages between memory of accelerators, by an MPI that takes it.
#pragma once

#include "fabric/mpi/call.hpp"
#include "fabric/staging.hpp"

namespace tca::mpi {

// Whether MPI takes the stager's memory as it takes the host's. MPI is asked, unless OPENTCA_CUDA_AWARE (`on` or `off`) answers
// for it, and then tried with a message of this rank to itself. Throws Error{invalid_argument} for another answer.
bool takes_accelerator_memory(MPI_Comm comm, fabric::Stager& stager);

}  // namespace tca::mpi
