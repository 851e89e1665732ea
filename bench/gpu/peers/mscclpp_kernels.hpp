// The kernels that use MSCCL++'s channels.
#pragma once

#include <cuda_runtime.h>

#include <cstddef>
#include <cstdint>
#include <mscclpp/memory_channel.hpp>

#include "gpu/kernels/face_kernels.hpp"
#include "gpu/kernels/touch.hpp"

namespace tca::bench::gpu::msccl {

using Channel = mscclpp::MemoryChannel::DeviceHandle;

// Steps are numbered over all runs; `first` is the number of a run's first step. Packets and signals count
// steps. `channels` are in device memory.

// The channel's source holds what has arrived and, from byte `sent` on, what is sent.
struct Message {
  Channel* channels;
  std::size_t sent, bytes;
  unsigned blocks, threads;
  Touched touched;  // what is sent and what arrives, written and read in each step
};
// All blocks use one channel.
void ping_pong_by_packets(const Message& message, int rank, std::uint32_t first, int steps,
                          cudaStream_t stream);
// Each block uses its own channel.
void ping_pong_by_puts(const Message& message, int rank, std::uint32_t first, int steps, cudaStream_t stream);

// There are `parts` blocks for each side. The source of both channels holds the two faces to send, then the
// two that have arrived. The packet buffers hold two steps.
struct Exchange {
  Channel* channels;  // to the low and to the high neighbour
  double *cube, *packed;
  std::size_t edge[2], ghost[2];  // low and high, in elements
  FaceRuns face;
  unsigned parts, threads;
  Touched touched;  // low and high edge, low and high ghost
};
void exchanges(const Exchange& exchange, std::uint32_t first, int steps, cudaStream_t stream);

// Sums over all ranks, from `values` to `values + count`, then back, and so on. `values` is the source of the
// channels.
struct Sum {
  Channel* channels;  // one for each rank; a rank's own is unused
  int rank, ranks;
  double* values;
  std::size_t count;
};
void sums(const Sum& sum, std::uint32_t first, int steps, cudaStream_t stream);

}  // namespace tca::bench::gpu::msccl
