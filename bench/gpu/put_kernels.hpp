// The computing that a tuner's step has beside its exchange.
#pragma once

#include <cuda_runtime.h>

#include <cstddef>

#include "put_exchange.hpp"

namespace tca::bench::gpu {

// Both sides of the puts of a step, in this rank's memory.
struct PutMemory {
  std::byte* data = nullptr;
  PutShape shape;
  PutField::Face faces[most_puts];
  int puts = 0;
  unsigned* step = nullptr;  // how many there have been
};

// Writes values, which tell step and place apart, to what is sent.
void write_sent(const PutMemory& memory, cudaStream_t stream);

// Reads what has arrived, and counts the step.
void read_arrived(const PutMemory& memory, cudaStream_t stream);

// Adds to `*wrong` how many of the values that have arrived are not those of the last step.
void check_arrived(const PutMemory& memory, unsigned long long* wrong, cudaStream_t stream);

}  // namespace tca::bench::gpu
