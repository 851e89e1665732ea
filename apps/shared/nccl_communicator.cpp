#include "shared/nccl_communicator.hpp"

#ifdef OPENTCA_HAVE_NCCL

#include <fmt/format.h>

#include <algorithm>
#include <cstdlib>
#include <vector>

#include "shared/gpu_call.hpp"
#include "tca/error.hpp"

namespace tca::apps {

std::string nccl_version() {
  int version = 0;
  ncclGetVersion(&version);
  return fmt::format("{}.{}.{}", version / 10000, version / 100 % 100, version % 100);
}

void nccl_ok(ncclResult_t result, std::string_view what) {
  if (result == ncclSuccess) return;
  throw Error(Errc::device_failed, fmt::format("{}: NCCL says {}", what, ncclGetErrorString(result)));
}

NcclCommunicator::NcclCommunicator(World& world) {
  if (world.ranks_share_devices())
    throw Error(Errc::invalid_argument,
                "NCCL needs a GPU for each rank, and here some share one: to compare, start fewer ranks");
  // Multicast in the switch (NVLS) stays off whatever the environment says, as it is in OpenTCA.
  setenv("NCCL_NVLS_ENABLE", "0", 1);
  ncclUniqueId id{};
  if (world.rank() == 0) nccl_ok(ncclGetUniqueId(&id), "starting NCCL");
  id = world.all_gather(id)[0];
  nccl_ok(ncclCommInitRank(&comm_, world.size(), id, world.rank()), "starting NCCL");
}

}  // namespace tca::apps

#else

namespace tca::apps {

std::string nccl_version() { return {}; }

}  // namespace tca::apps

#endif
