// Kernels that produce for both neighbours in a ring, and check what those have produced.
#pragma once

#include <cuda_runtime.h>

#include "tca/device/produced.hpp"

namespace tca::test {

// A value that differs between ranks, steps, sides and places, in two packets.
struct Grain {
  unsigned v[5];
};

struct ProducedRing {
  DeviceProducedChain chain;
  DeviceProducedPut<Grain> to_left, to_right;
  DeviceProducedArrival<Grain> from_left, from_right;
  unsigned rank, size;
  int steps;
  // What one rank does wrong in the last step; see device::Mistake.
  unsigned mistake = 0, element = 0;
  // Counts, in host memory, the elements that differ from what the neighbour made.
  unsigned* wrong;
};

// The parts of `blocks` blocks, each for itself.
cudaError_t run_blocks(const ProducedRing& ring, unsigned blocks, cudaStream_t stream);
// A cooperative grid, in which a step's elements go to other blocks than the step before's.
cudaError_t run_grid(const ProducedRing& ring, unsigned blocks, cudaStream_t stream);

}  // namespace tca::test
