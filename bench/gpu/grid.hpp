// How large a kernel is that runs a chain, and which bytes a message has; plain numbers.
#pragma once

#include <cstddef>

namespace tca::bench::gpu {

// A kernel's size; 0 leaves a number to `grid_for`.
struct Grid {
  unsigned blocks = 0, threads = 0;
};

// For a chain of so many chunks (each a warp's work) and segments (each a block's): enough of both that each
// is carried at once, up to 128 blocks. What `asked` gives stays.
Grid grid_for(unsigned chunks, unsigned segments, Grid asked = {});

// A message: `rows` runs of `row` bytes, `pitch` bytes apart; one row for a block.
struct Rows {
  std::size_t rows = 1, row = 0, pitch = 0;

  static Rows block(std::size_t bytes) { return {1, bytes, bytes}; }
  // Every other `row` bytes of a region, `bytes` in all, rounded up to whole rows.
  static Rows spaced(std::size_t bytes, std::size_t row) { return {(bytes + row - 1) / row, row, 2 * row}; }

  std::size_t bytes() const { return rows * row; }
  std::size_t extent() const { return (rows - 1) * pitch + row; }
  // Whole lines of 256 bytes, so that what follows is aligned as well.
  std::size_t padded() const { return (extent() + 255) / 256 * 256; }
};

}  // namespace tca::bench::gpu
