// Of a build without CUDA.
#include <unistd.h>

#include "mpi/gpu/gpu.hpp"

namespace tca::interposer::gpu {

std::string begin() {
  if (access("/dev/nvidiactl", F_OK) != 0) return {};
  return "this host has GPUs, in whose memory buffers may be, and this OpenTCA was built without CUDA";
}

std::shared_ptr<const p2p::Scattering> find(std::byte*, std::size_t, std::size_t,
                                            std::shared_ptr<const TypeMap>) {
  return nullptr;
}

bool fetch(int, std::span<const std::byte>, std::size_t, const p2p::Target&) { return false; }

void end() {}

}  // namespace tca::interposer::gpu
