// A computation that fills a GPU, beside which something is exchanged.
#pragma once

#include <cuda_runtime.h>

#include <cstddef>

namespace tca::bench::gpu {

// Arithmetic in registers, which loses the time of multiprocessors that something else takes; or reading and writing memory,
// which loses bandwidth too.
struct Computation {
  enum Kind { arithmetic, memory };

  // At a time, a block works on as many elements of `data`.
  static constexpr unsigned threads = 256;

  Kind kind = arithmetic;
  float4* data = nullptr;
  std::size_t elements = 0;  // of data, at least those of all blocks
  unsigned blocks = 0;       // many for each multiprocessor, so that each takes what is free
  unsigned turns = 1;        // how long each of them works
};
void compute(const Computation& computation, cudaStream_t stream);

}  // namespace tca::bench::gpu
