#include "himeno/partition.hpp"

#include <fmt/format.h>

#include <algorithm>

#include "tca/error.hpp"

namespace tca::himeno {

void check_grid(const Problem& problem, const Grid& grid) {
  if (grid.dims() != 3) {
    throw Error(Errc::invalid_argument,
                fmt::format("the grid {} has {} dimensions, the array has 3", grid.describe(), grid.dims()));
  }
  const Extents interior = problem.interior();
  for (int d = 0; d < 3; ++d) {
    const std::int64_t cells = interior[static_cast<std::size_t>(d)];
    if (grid.extent(d) <= cells) continue;
    throw Error(
        Errc::invalid_argument,
        fmt::format("the grid {} has {} ranks along dimension {}, where the array {} has {} cells to share",
                    grid.describe(), grid.extent(d), d, describe(problem.extents), cells));
  }
}

Share share_of(const Problem& problem, const Grid& grid, int rank) {
  const Extents interior = problem.interior();
  Share share{};
  for (int d = 0; d < 3; ++d) {
    const auto at = static_cast<std::size_t>(d);
    share[at] = grid.part(rank, d, interior[at]);
  }
  return share;
}

Extents extents_of(const Share& share) { return {share[0].size + 2, share[1].size + 2, share[2].size + 2}; }

std::size_t cells_of(const Share& share) {
  const Extents extents = extents_of(share);
  return static_cast<std::size_t>(extents[0] * extents[1] * extents[2]);
}

std::vector<Grid::Coordinates> directions() {
  std::vector<Grid::Coordinates> all;
  for (int i = -1; i <= 1; ++i) {
    for (int j = -1; j <= 1; ++j) {
      for (int k = -1; k <= 1; ++k) {
        if (i != 0 || j != 0 || k != 0) all.push_back({i, j, k});
      }
    }
  }
  return all;
}

Box slice(const Share& share, const Grid::Coordinates& step, bool ghosts) {
  Box box{};
  for (std::size_t d = 0; d < 3; ++d) {
    const std::int64_t own = share[d].size;
    box.begin[d] = step[d] > 0 ? own + (ghosts ? 1 : 0) : (step[d] < 0 && ghosts ? 0 : 1);
    box.end[d] = box.begin[d] + (step[d] == 0 ? own : 1);
  }
  return box;
}

Box whole(const Share& share) {
  return {{1, 1, 1}, {share[0].size + 1, share[1].size + 1, share[2].size + 1}};
}

Division divide(const Share& share, const Grid& grid, int rank, const Extents& thickness) {
  Division division{.shell = {}, .core = whole(share)};
  Box& core = division.core;
  for (int d = 0; d < 3; ++d) {
    const auto at = static_cast<std::size_t>(d);
    for (const int side : {-1, 1}) {
      Grid::Coordinates step{};
      step[at] = side;
      if (!grid.neighbour(rank, step)) continue;
      Box slab = core;
      if (side < 0) {
        core.begin[at] = slab.end[at] = std::min(core.begin[at] + thickness[at], core.end[at]);
      } else {
        core.end[at] = slab.begin[at] = std::max(core.end[at] - thickness[at], core.begin[at]);
      }
      if (!slab.empty()) division.shell.push_back(slab);
    }
  }
  return division;
}

}  // namespace tca::himeno
