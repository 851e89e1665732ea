// The sides of a rank's box of cells, and what crosses them: for exchanges that name each neighbour's cells themselves.
#pragma once

#include <array>
#include <cstdint>
#include <optional>

#include "pic/domain.hpp"

namespace tca::pic {

// A direction: -1, 0 or 1 along x, y and z.
using Side = std::array<int, 3>;
inline Side opposite(const Side& side) { return {-side[0], -side[1], -side[2]}; }

// Calls act(side, neighbour) for each side on which there is another rank.
template <class Act>
void each_side(const Domain& domain, int rank, const Act& act) {
  const int deep = domain.dims() == 3 ? 1 : 0;
  for (int z = -deep; z <= deep; ++z)
    for (int y = -1; y <= 1; ++y)
      for (int x = -1; x <= 1; ++x) {
        const Side side{x, y, z};
        if (side == Side{} || (x != 0 && domain.wraps(0)) || (y != 0 && domain.wraps(1)) ||
            (z != 0 && domain.wraps(2)))
          continue;
        Grid::Coordinates step{};
        for (int axis = 0; axis < domain.dims(); ++axis)
          step[static_cast<std::size_t>(domain.dims() - 1 - axis)] = side[static_cast<std::size_t>(axis)];
        if (const auto neighbour = domain.grid().neighbour(rank, step)) act(side, *neighbour);
      }
}

// The first cell of a box along x, y and z, and its size.
struct CellBox {
  std::array<std::int64_t, 3> first, size;

  std::int64_t cells() const { return size[0] * size[1] * size[2]; }
};

// The cells of a side: the outer own ones that a neighbour has ghosts of, or the ghosts. Those that stand for own cells along
// another axis go with them.
inline CellBox box_of(const Domain& domain, const Side& side, GhostWidth widths, bool ghosts) {
  CellBox box{};
  for (int axis = 0; axis < 3; ++axis) {
    const auto a = static_cast<std::size_t>(axis);
    const std::int64_t cells = domain.cells(axis);
    // A neighbour above has ghosts below it of this rank's cells, and the other way round.
    const bool above = side[a] > 0;
    const std::int64_t width = above == ghosts ? widths.high : widths.low;
    box.size[a] = side[a] == 0 ? cells : width;
    if (domain.wraps(axis)) {
      box.first[a] = -flow_ghosts.low;
      box.size[a] = flow_ghosts.low + cells + flow_ghosts.high;
    }
    if (side[a] == 0) continue;
    box.first[a] = ghosts ? (above ? cells : -width) : (above ? cells - width : 0);
  }
  return box;
}

// Calls act(index) for each cell of a box, x fastest.
template <class Act>
void each_cell(const Domain& domain, const CellBox& box, const Act& act) {
  for (std::int64_t z = 0; z < box.size[2]; ++z)
    for (std::int64_t y = 0; y < box.size[1]; ++y)
      for (std::int64_t x = 0; x < box.size[0]; ++x)
        act(domain.index(box.first[0] + x, box.first[1] + y, box.first[2] + z));
}

}  // namespace tca::pic
