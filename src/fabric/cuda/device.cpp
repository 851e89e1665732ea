#include "fabric/cuda/device.hpp"

#include <cstring>

#include "base/fail.hpp"
#include "fabric/cuda/call.hpp"

namespace tca::cuda {

namespace {

std::string cuda_release(int version) { return fmt::format("{}.{}", version / 1000, version % 1000 / 10); }

// CUDA reports a missing driver and one that is too old with the same name.
void require_driver_for(int runtime) {
  int driver = 0;
  if (cudaDriverGetVersion(&driver) != cudaSuccess || driver == 0 || driver >= runtime) return;
  base::fail(
      Errc::device_failed,
      "this machine's NVIDIA driver is for CUDA {}, and this OpenTCA was built with CUDA {}; update the "
      "driver, or build OpenTCA with a CUDA that the driver knows",
      cuda_release(driver), cuda_release(runtime));
}

int count_devices() {
  int count = 0;
  const cudaError_t result = cudaGetDeviceCount(&count);
  if (result != cudaSuccess || count == 0) {
    cudaGetLastError();
    if (result == cudaErrorInsufficientDriver) require_driver_for(CUDART_VERSION);
    base::fail(
        Errc::device_failed,
        "fabric cuda needs an NVIDIA GPU and its driver, but CUDA says: {}; use fabric shm on this machine",
        result == cudaSuccess ? "no device" : cudaGetErrorString(result));
  }
  return count;
}

// Returns whether this rank's GPU is known not to reach another rank's. Only GPUs that are visible to this
// process are known.
bool unreachable(const DeviceInfo& mine, const DeviceInfo& other) {
  int theirs = -1, can = 0;
  if (std::strcmp(mine.bus_id, other.bus_id) == 0) return false;
  if (cudaDeviceGetByPCIBusId(&theirs, other.bus_id) != cudaSuccess) {
    cudaGetLastError();
    return false;  // hidden by CUDA_VISIBLE_DEVICES; mapping its memory will tell
  }
  return cudaDeviceCanAccessPeer(&can, mine.number, theirs) == cudaSuccess && can == 0;
}

}  // namespace

namespace {

DeviceInfo open_device(int wanted, int rank, const control::Places& places) {
  const int count = count_devices();
  if (wanted >= count) {
    base::fail(Errc::invalid_argument, {.rank = rank},
               "rank {} was told to drive GPU {}, but there are {} here, numbered from 0", rank, wanted,
               count);
  }
  DeviceInfo info;
  info.number = wanted >= 0 ? wanted : places.seat(rank) % count;
  info.host = places.host[static_cast<std::size_t>(rank)];
  check(cudaSetDevice(info.number), fmt::format("opening GPU {}", info.number));
  cudaDeviceProp properties{};
  check(cudaGetDeviceProperties(&properties, info.number), "reading the GPU's properties");
  std::string_view(properties.name).copy(info.name, sizeof info.name - 1);
  check(cudaDeviceGetPCIBusId(info.bus_id, sizeof info.bus_id, info.number), "reading the GPU's bus number");
  return info;
}

}  // namespace

DeviceInfo choose_device(control::Control& control, int wanted, const control::Places& places) {
  DeviceInfo mine;
  control.do_together("bringing up the cuda fabric",
                      [&] { mine = open_device(wanted, control.rank(), places); });
  return mine;
}

std::vector<DeviceInfo> meet(control::Control& control, const control::Places& places,
                             const DeviceInfo& mine) {
  const std::string what = "bringing up the cuda fabric";
  std::vector<DeviceInfo> all = control.all_gather_value(mine, what);
  control.do_together(what, [&] {
    for (std::size_t rank = 0; rank < all.size(); ++rank) {
      if (!places.same_sub_cluster(control.rank(), static_cast<int>(rank)) || !unreachable(mine, all[rank]))
        continue;
      base::fail(Errc::incompatible, {.rank = control.rank()},
                 "rank {} on GPU {} ({}) and rank {} on GPU {} ({}) do not reach each other's memory, over "
                 "NVLink or PCIe; give the ranks GPUs that do (nvidia-smi topo -p2p r shows which), or part "
                 "them into sub-clusters (fabric cuda+mpi with OPENTCA_SUBCLUSTER)",
                 control.rank(), mine.bus_id, mine.name, rank, all[rank].bus_id, all[rank].name);
    }
  });
  return all;
}

}  // namespace tca::cuda
