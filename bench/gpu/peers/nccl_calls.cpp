#include "gpu/peers/nccl_calls.hpp"

#include <algorithm>
#include <cstdlib>
#include <exception>

#include "gpu/call.hpp"

namespace tca::bench::gpu::nccl {

namespace {

// After an error the other ranks may never come to what is collective.
bool others_come() { return std::uncaught_exceptions() == 0; }

ncclConfig_t config([[maybe_unused]] bool by_copy_engine) {
  ncclConfig_t config = NCCL_CONFIG_INITIALIZER;
#ifdef OPENTCA_HAVE_NCCL_DEVICE
  if (by_copy_engine) config.CTAPolicy = NCCL_CTA_POLICY_ZERO;
#endif
  return config;
}

}  // namespace

void check(ncclResult_t result, const char* what) {
  if (result != ncclSuccess)
    throw Error(Errc::device_failed, std::string(what) + ": NCCL says: " + ncclGetErrorString(result));
}

std::string version() {
  int number = 0;
  check(ncclGetVersion(&number), "looking up its version");
  return std::to_string(number / 10000) + "." + std::to_string(number / 100 % 100) + "." +
         std::to_string(number % 100);
}

// All ranks are on this host. Multicast in the switch (NVLS) stays off whatever the environment says, as it is in OpenTCA.
Communicator::Communicator(World& world, bool by_copy_engine) {
  setenv("NCCL_SOCKET_IFNAME", "lo", 0);
  setenv("NCCL_NVLS_ENABLE", "0", 1);
  ncclUniqueId id{};
  if (world.rank() == 0) check(ncclGetUniqueId(&id), "coming up");
  ncclConfig_t how = config(by_copy_engine);
  check(ncclCommInitRankConfig(&comm_, world.size(), world.all_gather(id)[0], world.rank(), &how),
        "coming up");
}

Communicator::~Communicator() { others_come() ? ncclCommDestroy(comm_) : ncclCommAbort(comm_); }

Memory::Memory(ncclComm_t comm, std::size_t bytes, Kind kind) : comm_(comm), kind_(kind) {
  constexpr const char* what = "memory for NCCL";
  constexpr std::size_t page = 4096;  // windows begin and end at pages
  const std::size_t size = (std::max<std::size_t>(bytes, 1) + page - 1) / page * page;
#ifdef OPENTCA_HAVE_NCCL_DEVICE
  if (kind == window) {
    check(ncclMemAlloc(&data_, size), what);
    check(ncclCommWindowRegister(comm, data_, size, &window_, NCCL_WIN_COLL_SYMMETRIC),
          "registering a window");
  }
#endif
  if (kind == plain) cuda_ok(cudaMalloc(&data_, size), what);
  cuda_ok(cudaMemset(data_, 0, size), what);
  cuda_ok(cudaStreamSynchronize(nullptr), what);
}

Memory::~Memory() {
  if (kind_ == plain) cudaFree(data_);
#ifdef OPENTCA_HAVE_NCCL_DEVICE
  if (kind_ == window && others_come()) {
    ncclCommWindowDeregister(comm_, window_);
    ncclMemFree(data_);
  }
#endif
}

}  // namespace tca::bench::gpu::nccl
