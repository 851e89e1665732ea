#include "gpu/grid.hpp"

#include <algorithm>

namespace tca::bench::gpu {

Grid grid_for(unsigned chunks, unsigned segments, Grid asked) {
  constexpr unsigned warp = 32, most_threads = 256, most_blocks = 64;
  Grid grid = asked;
  if (grid.threads == 0)
    grid.threads = segments > 0 ? most_threads : std::clamp(chunks * warp, warp, most_threads);
  if (grid.blocks == 0) {
    const unsigned warps = std::max(1u, grid.threads / warp);
    grid.blocks = std::clamp(std::max((chunks + warps - 1) / warps, segments), 1u, most_blocks);
  }
  return grid;
}

}  // namespace tca::bench::gpu
