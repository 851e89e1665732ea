#include "gpu/grid.hpp"

#include <algorithm>

namespace tca::bench::gpu {

Grid grid_for(unsigned chunks, unsigned segments, Grid asked) {
  constexpr unsigned warp = 32, most_threads = 256, most_blocks = 128;
  Grid grid = asked;
  // Few chunks go to one block, whose own barrier is enough between what its warps exchange and what they write
  // and read.
  if (grid.threads == 0) {
    const unsigned own_blocks = chunks <= most_threads / warp ? 1 : most_blocks;
    const unsigned blocks = asked.blocks > 0 ? asked.blocks : own_blocks;
    const unsigned warps = (chunks + blocks - 1) / blocks;
    grid.threads = segments > 0 ? most_threads : std::clamp(warps * warp, warp, most_threads);
  }
  if (grid.blocks == 0) {
    const unsigned warps = std::max(1u, grid.threads / warp);
    grid.blocks = std::clamp(std::max((chunks + warps - 1) / warps, segments), 1u, most_blocks);
  }
  return grid;
}

}  // namespace tca::bench::gpu
