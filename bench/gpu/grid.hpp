// The size of a kernel that runs a chain, and the bytes of a message, in plain numbers.
#pragma once

#include <cstddef>

namespace tca::bench::gpu {

// A kernel's size. `grid_for` chooses a number that is 0.
struct Grid {
  unsigned blocks = 0, threads = 0;
};

// Returns the grid for a chain of this many chunks (one warp's work each) and segments (one block's work
// each). There are enough warps and blocks to carry all of them at once, up to 128 blocks. Numbers that
// `asked` gives are kept.
Grid grid_for(unsigned chunks, unsigned segments, Grid asked = {});

// A message: `rows` runs of `row` bytes, `pitch` bytes apart. A block of bytes is one row.
struct Rows {
  std::size_t rows = 1, row = 0, pitch = 0;

  static Rows block(std::size_t bytes) { return {1, bytes, bytes}; }
  // Returns every other `row` bytes of a region: `bytes` in all, rounded up to whole rows.
  static Rows spaced(std::size_t bytes, std::size_t row) { return {(bytes + row - 1) / row, row, 2 * row}; }

  std::size_t bytes() const { return rows * row; }
  std::size_t extent() const { return (rows - 1) * pitch + row; }
  // Returns the extent in whole lines of 256 bytes, so that what follows is aligned as well.
  std::size_t padded() const { return (extent() + 255) / 256 * 256; }
};

}  // namespace tca::bench::gpu
