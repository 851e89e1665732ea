// The computation in a tuner's step, beside its exchange.
#pragma once

#include <cuda_runtime.h>

#include <cstddef>

#include "put_exchange.hpp"

namespace tca::bench::gpu {

// Both sides of a step's puts in this rank's memory.
struct PutMemory {
  std::byte* data = nullptr;
  PutShape shape;
  PutField::Face faces[most_puts];
  int puts = 0;
  unsigned* step = nullptr;  // number of steps so far
};

// Writes values that depend on step and place to what is sent.
void write_sent(const PutMemory& memory, cudaStream_t stream);

// Reads what has arrived, and increments the number of steps.
void read_arrived(const PutMemory& memory, cudaStream_t stream);

// Adds to `*wrong` the number of values that have arrived and are not those of the last step.
void check_arrived(const PutMemory& memory, unsigned long long* wrong, cudaStream_t stream);

}  // namespace tca::bench::gpu
