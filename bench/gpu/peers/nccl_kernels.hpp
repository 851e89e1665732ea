// Kernels that exchange by NCCL's device API: packets of its low-latency all-to-all sessions (8 bytes of data in 16), or stores
// through pointers to other ranks' windows, between barriers.
#pragma once

#include <cuda_runtime.h>

#include <cstddef>
#include <cstdint>
// NCCL's headers need the ones above.
#include <nccl_device.h>

#include "gpu/kernels/face_kernels.hpp"
#include "gpu/kernels/touch.hpp"

namespace tca::bench::gpu::nccl {

inline constexpr std::size_t packet_data = 8;

// What a kernel needs of NCCL. Sessions have a number of slots for each block.
struct Device {
  ncclDevComm comm{};
  ncclLLA2AHandle slots{};
  ncclLsaBarrierHandle barriers{};
};

// Steps are numbered over all runs, and `first` is the number of a run's first step.
struct Message {
  Device device;
  ncclTeam pair;
  ncclWindow_t window;  // what arrives is at its beginning
  std::byte *in, *out;
  std::size_t bytes;
  unsigned blocks, threads;
  Touched touched;
};
void ping_pong_by_packets(const Message& message, std::uint32_t first, int steps, cudaStream_t stream);
void ping_pong_by_stores(const Message& message, std::uint32_t first, int steps, cudaStream_t stream);

struct Exchange {
  Device device;
  ncclWindow_t window;
  double* cube;
  std::size_t edge[2], ghost[2];  // low and high, in elements
  FaceRuns face;
  int neighbour[2];
  // With packets: this rank and the neighbour, and the number of their pair, which both know as the same.
  ncclTeam pair[2];
  int pair_number[2];
  // With stores: ghosts of odd steps are as many elements behind those of even steps.
  std::size_t odd;
  unsigned parts, threads;
  Touched touched;
};
void exchanges_by_packets(const Exchange& exchange, std::uint32_t first, int steps, cudaStream_t stream);
void exchanges_by_stores(const Exchange& exchange, std::uint32_t first, int steps, cudaStream_t stream);

// At most as many as a block has threads.
inline constexpr std::size_t most_sums = 1024;
void sums(const Device& device, double* values, unsigned count, int steps, cudaStream_t stream);

// One all-to-all of blocks of `bytes`.
struct AllToAll {
  Device device;
  ncclWindow_t window;
  const std::byte* from;
  std::byte* to;
  std::size_t bytes;
  unsigned blocks, threads;
};
void all_to_all_by_packets(const AllToAll& all, cudaStream_t stream);
void all_to_all_by_stores(const AllToAll& all, cudaStream_t stream);

}  // namespace tca::bench::gpu::nccl
