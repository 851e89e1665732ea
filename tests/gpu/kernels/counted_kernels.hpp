// Kernels that send as many elements to the next rank of a ring as the step says, and check what the one before has
// sent.
#pragma once

#include <cuda_runtime.h>

#include "tca/device/chain.hpp"
#include "tca/device/counted.hpp"

namespace tca::test {

struct CountedRing {
  DeviceChain chain;
  DeviceCountedPut to_right;
  DeviceCountedArrival from_left;
  int *source, *target;  // of `room` elements; the target is -1 wherever nothing has come
  unsigned room, rank, size;
  int steps = 0;
  // Added to the length of the last step.
  unsigned excess = 0;
  // Counts, in host memory, the elements and lengths that differ from what the neighbour sent.
  unsigned* wrong;
};

// One block, and a cooperative grid.
cudaError_t run_block(const CountedRing& ring, cudaStream_t stream);
cudaError_t run_grid(const CountedRing& ring, unsigned blocks, cudaStream_t stream);

// The two halves around a step on a stream. The number of the step is in device memory, so that a graph that is
// replayed goes on; `check_counted` adds 1. `sets_length`: the kernel sets it, and not the host.
void write_counted(const CountedRing& ring, const unsigned* step, bool sets_length, cudaStream_t stream);
void check_counted(const CountedRing& ring, unsigned* step, cudaStream_t stream);

// The length of a step: often none, often all.
__host__ __device__ inline unsigned counted_length(unsigned rank, unsigned step, unsigned room) {
  const unsigned random = (rank * 31 + step) * 2654435761U >> 8;
  return random % 4 == 0 ? 0 : random % 4 == 1 ? room : random / 4 % (room + 1);
}

}  // namespace tca::test
