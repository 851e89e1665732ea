// NCCL as a peer for comparisons.
#pragma once

#ifdef OPENTCA_HAVE_NCCL
#include <nccl.h>
#endif

#include <string>
#include <string_view>

#include "tca/world.hpp"

namespace tca::apps {

std::string nccl_version();  // e.g. "2.28.3"; empty without NCCL

#ifdef OPENTCA_HAVE_NCCL
// Throws Error{device_failed}: "<what>: NCCL says <its own words>".
void nccl_ok(ncclResult_t result, std::string_view what);

// A communicator of the ranks of a world on fabric cuda.
class NcclCommunicator {
 public:
  // Collective. Throws Error{invalid_argument} where ranks share a GPU, which NCCL does not support.
  explicit NcclCommunicator(World& world);
  NcclCommunicator(const NcclCommunicator&) = delete;
  NcclCommunicator& operator=(const NcclCommunicator&) = delete;
  ~NcclCommunicator() { ncclCommDestroy(comm_); }

  ncclComm_t get() const { return comm_; }

 private:
  ncclComm_t comm_ = nullptr;
};
#endif

}  // namespace tca::apps
