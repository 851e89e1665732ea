// The calls of NVSHMEM and the kernels that put with it, behind functions, since only nvcc can read NVSHMEM's
// headers.
#pragma once

#include <cuda_runtime.h>

#include <cstddef>
#include <cstdint>
#include <string>

#include "gpu/kernels/face_kernels.hpp"
#include "gpu/kernels/touch.hpp"

namespace tca::bench::gpu::nvshmem {

struct Id {
  unsigned char bytes[128];
};
Id make_id();
// Collective. Returns false when NVSHMEM does not come up.
bool join(int rank, int size, const Id& of_rank_0);
void leave();
std::string version();

// Collective, with the same size on every rank. Returns zeroed memory, or null when the symmetric heap is
// full.
void* allocate(std::size_t bytes);
void release(void* memory);

// In the functions below steps are numbered over all runs, and `first` is the number of a run's first step.
// Signals count steps.
void ping_pong_by_p(std::uint64_t* flag, int rank, std::uint64_t first, int steps, cudaStream_t stream);

// There are `parts` blocks, each with its own part of the message and its own signal.
struct Message {
  std::byte *in, *out;
  std::size_t bytes;
  std::uint64_t* signals;  // one for each part
  unsigned parts, threads;
  Touched touched;  // what is sent and what arrives, written and read in each step
};
void ping_pong(const Message& message, int rank, std::uint64_t first, int steps, cudaStream_t stream);

// There are `parts` blocks for each side. The signals are `parts` for the low side, followed by as many for
// the high side.
struct Exchange {
  double* cube;
  std::size_t edge[2], ghost[2];  // low and high, in elements
  FaceRuns face;
  // Two steps x (sent, received) x two sides x elements; null for puts of whole rows into place.
  double* packed;
  std::uint64_t* signals;
  int neighbour[2];
  unsigned parts, threads;
  Touched touched;  // low and high edge, low and high ghost
};
void exchanges(const Exchange& exchange, std::uint64_t first, int steps, cudaStream_t stream);

// Sums from `values[0]` to `values[1]`, then back, and so on.
void sums(double* const (&values)[2], std::size_t count, int steps, cudaStream_t stream);

}  // namespace tca::bench::gpu::nvshmem
