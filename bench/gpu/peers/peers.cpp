#include "gpu/peers/peers.hpp"

#include "boot/over_mpi.hpp"
#include "tca/error.hpp"

namespace tca::bench::gpu {

bool has_peer(const std::string& name) {
  if (name == "nccl") return has_nccl();
  if (name.starts_with("nccl-")) return has_nccl_device();
  if (name == "nvshmem") return has_nvshmem();
  if (name == "mscclpp") return has_mscclpp();
  if (name == "mpi") return boot::built_with_mpi();
  return name == "copy" || name == "produced";
}

std::unique_ptr<Peer> open_peer(const std::string& name, World& world) {
  std::unique_ptr<Peer> peer;
  if (name == "nccl") peer = open_nccl(world);
  if (name == "nccl-windows") peer = open_nccl_windows(world);
  if (name == "nccl-copy-engine") peer = open_nccl_copy_engine(world);
  if (name == "nccl-device") peer = open_nccl_device(world);
  if (name == "nvshmem") peer = open_nvshmem(world);
  if (name == "mscclpp") peer = open_mscclpp(world);
  if (name == "mpi") peer = open_mpi(world);
  if (name == "copy") peer = open_copy(world);
  if (name == "produced") peer = open_producer(world);
  if (peer == nullptr) throw Error(Errc::invalid_argument, "this build has no " + name + " to compare with");
  return peer;
}

}  // namespace tca::bench::gpu
