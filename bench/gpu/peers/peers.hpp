// The peers, one by one. Those that this build lacks open as null.
#pragma once

#include "gpu/contenders.hpp"

namespace tca::bench::gpu {

bool has_nccl();
bool has_nccl_device();  // and with it symmetric windows and copy engines
bool has_nvshmem();
bool has_mscclpp();
std::unique_ptr<Peer> open_nccl(World& world);
std::unique_ptr<Peer> open_nccl_windows(World& world);
std::unique_ptr<Peer> open_nccl_copy_engine(World& world);
std::unique_ptr<Peer> open_nccl_device(World& world);
std::unique_ptr<Peer> open_nvshmem(World& world);
std::unique_ptr<Peer> open_mscclpp(World& world);
std::unique_ptr<Peer> open_mpi(World& world);
std::unique_ptr<Peer> open_copy(World& world);
std::unique_ptr<Peer> open_producer(World& world);

inline Contenders one(std::unique_ptr<Contender> contender) {
  Contenders all;
  all.push_back(std::move(contender));
  return all;
}

}  // namespace tca::bench::gpu
