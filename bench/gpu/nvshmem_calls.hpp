// NVSHMEM's own part: the library's calls and the kernels in which its puts are made. Only nvcc reads
// NVSHMEM's headers.
#pragma once

#include <cuda_runtime.h>

#include <cstddef>
#include <cstdint>
#include <string>

#include "gpu/face_kernels.hpp"

namespace tca::bench::gpu::nvshmem {

struct Id {
  unsigned char bytes[128];
};
Id make_id();
// Collective. False when NVSHMEM does not come up.
bool join(int rank, int size, const Id& of_rank_0);
void leave();
std::string version();

// Collective; zeroed, the same size on every rank. Null when the symmetric heap is full.
void* allocate(std::size_t bytes);
void release(void* memory);

// Steps are numbered from `first` on, over all runs: signals count them.
void ping_pong_by_p(std::uint64_t* flag, int rank, std::uint64_t first, int steps, cudaStream_t stream);

// `parts` blocks, each with its own part of the message and its own signal.
struct Message {
  std::byte *in, *out;
  std::size_t bytes;
  std::uint64_t* signals;  // one a part
  unsigned parts, threads;
};
void ping_pong(const Message& message, int rank, std::uint64_t first, int steps, cudaStream_t stream);

// `parts` blocks a side. Signals: `parts` for the low side, then for the high one.
struct Exchange {
  double* cube;
  std::size_t edge[2], ghost[2];  // low and high, in elements
  FaceRuns face;
  double*
      packed;  // two steps x (sent, received) x two sides x elements; null for puts of whole rows into place
  std::uint64_t* signals;
  int neighbour[2];
  unsigned parts, threads;
};
void exchanges(const Exchange& exchange, std::uint64_t first, int steps, cudaStream_t stream);

// Sums from `values[0]` to `values[1]`, back, and so on.
void sums(double* const (&values)[2], std::size_t count, int steps, cudaStream_t stream);

}  // namespace tca::bench::gpu::nvshmem
