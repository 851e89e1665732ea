#include "fabric/mpi/accelerator_memory.hpp"

#include <optional>

#include "base/system/environment.hpp"
#include "control/mpi/mpi_control.hpp"
#if __has_include(<mpi-ext.h>)
#include <mpi-ext.h>
#endif

namespace tca::mpi {

namespace {

// Open MPI and MPICH each have their own call for this; an MPI that has neither accepts host memory only.
// Open MPI before version 5 only reports how it was built itself. If its transport was built otherwise, it
// would copy from a GPU's addresses and crash.
bool mpi_says_so() {
#if defined(MPIX_CUDA_AWARE_SUPPORT)
  return OMPI_MAJOR_VERSION >= 5 && MPIX_Query_cuda_support() == 1;
#elif defined(MPIX_GPU_SUPPORT_CUDA)
  int supported = 0;
  return MPIX_GPU_query_support(MPIX_GPU_SUPPORT_CUDA, &supported) == MPI_SUCCESS && supported != 0;
#else
  return false;
#endif
}

}  // namespace

bool claims_accelerator_memory() {
  const std::optional<bool> told = base::on_or_off("OPENTCA_CUDA_AWARE", "whether MPI is given GPU memory");
  return told ? *told : mpi_says_so();
}

bool takes_accelerator_memory(MPI_Comm comm, fabric::Stager& stager) {
  if (!claims_accelerator_memory()) return false;
  const InMpi inside;
  int rank = 0;
  MPI_Comm_rank(comm, &rank);
  return stager.can_be_carried([&](std::byte* to, const std::byte* from, std::size_t bytes) {
    const auto count = static_cast<int>(bytes);
    // The result needs no check: if the call fails, nothing has arrived.
    MPI_Sendrecv(from, count, MPI_BYTE, rank, Tag::trial, to, count, MPI_BYTE, rank, Tag::trial, comm,
                 MPI_STATUS_IGNORE);
  });
}

}  // namespace tca::mpi
