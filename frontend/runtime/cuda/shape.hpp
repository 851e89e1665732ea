// How many blocks and threads a region's kernel gets.
#pragma once

#include <cuda_runtime.h>

#include <cstdint>
#include <map>

#include "tca/xacc/runtime.h"

namespace tca::xacc {

struct Shape {
  dim3 grid, block;
  unsigned threads() const { return block.x * block.y * block.z; }
  std::size_t blocks() const { return std::size_t{grid.x} * grid.y * grid.z; }
};

class Shapes {
 public:
  // A thread an iteration, as far as grids go; loops go round more often otherwise, so that any shape is right.
  // Reductions have no more blocks than there is room for at a time, as one of them combines what all have left.
  Shape of(const xacc_launch& how);

 private:
  struct Limits {
    int threads = 0;      // of a block, which registers set
    int with = 0;         // so many threads a block ...
    std::int64_t blocks;  // ... as many blocks have room
  };
  int most_threads(const void* kernel);
  std::int64_t most_blocks(const void* kernel, int threads);

  std::map<const void*, Limits> limits_;
};

}  // namespace tca::xacc
