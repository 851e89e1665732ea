// MSCCL++'s own part: the kernels in which its channels are used.
#pragma once

#include <cuda_runtime.h>

#include <cstddef>
#include <cstdint>
#include <mscclpp/memory_channel.hpp>

#include "gpu/face_kernels.hpp"

namespace tca::bench::gpu::msccl {

using Channel = mscclpp::MemoryChannel::DeviceHandle;

// Steps are numbered from `first` on, over all runs; packets and signals count them. `channels` are device memory.

// The channel's source holds what came, and `sent` bytes behind it what is sent.
struct Message {
  Channel* channels;
  std::size_t sent, bytes;
  unsigned blocks, threads;
};
// All blocks by one channel.
void ping_pong_by_packets(const Message& message, int rank, std::uint32_t first, int steps,
                          cudaStream_t stream);
// A block each by its own.
void ping_pong_by_puts(const Message& message, int rank, int steps, cudaStream_t stream);

// `parts` blocks a side. The source of both channels holds two faces to send, then two that came; packets of two steps wait in
// their buffers.
struct Exchange {
  Channel* channels;  // to the low and to the high neighbour
  double *cube, *packed;
  std::size_t edge[2], ghost[2];  // low and high, in elements
  FaceRuns face;
  unsigned parts, threads;
};
void exchanges(const Exchange& exchange, std::uint32_t first, int steps, cudaStream_t stream);

// Sums over all ranks from `values` to `values + count`, back, and so on; `values` is the channels' source.
struct Sum {
  Channel* channels;  // one a rank; its own is not used
  int rank, ranks;
  double* values;
  std::size_t count;
};
void sums(const Sum& sum, std::uint32_t first, int steps, cudaStream_t stream);

}  // namespace tca::bench::gpu::msccl
