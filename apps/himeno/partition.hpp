// Which part of the array each rank owns, and which of its cells are computed first.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <vector>

#include "himeno/problem.hpp"
#include "tca/grid.hpp"

namespace tca::himeno {

// A rank's interior cells along each dimension.
using Share = std::array<Range, 3>;

// The local cells [begin, end) along each dimension; local cell 0 is a ghost.
struct Box {
  Extents begin;
  Extents end;

  bool empty() const { return begin[0] >= end[0] || begin[1] >= end[1] || begin[2] >= end[2]; }
};

// Throws Error{invalid_argument} unless the grid has three dimensions and every rank gets at least one cell
// along each.
void check_grid(const Problem& problem, const Grid& grid);

Share share_of(const Problem& problem, const Grid& grid, int rank);

// Both include the ghosts.
Extents extents_of(const Share& share);
std::size_t cells_of(const Share& share);

// Returns the index of a local cell in an array of `extents`, ghosts included.
inline std::size_t index_in(const Extents& extents, const Extents& cell) {
  return static_cast<std::size_t>((cell[0] * extents[1] + cell[1]) * extents[2] + cell[2]);
}

// Returns the steps to all 26 neighbours, across faces, edges and corners.
std::vector<Grid::Coordinates> directions();

// Returns the cells that the neighbour in the direction of `step` needs, or the ghosts that it fills.
Box slice(const Share& share, const Grid::Coordinates& step, bool ghosts);

// A rank's own cells in two parts. The shell holds the cells that its neighbours need and those that read
// what the neighbours send; the core holds the rest.
struct Division {
  std::vector<Box> shell;  // at most six boxes, none of them empty
  Box core;                // may be empty
};

// Returns the box of all of a rank's own cells.
Box whole(const Share& share);

// Takes a slab off the core on each side that has a neighbour, `thickness` cells thick along each dimension.
// The slabs do not overlap.
Division divide(const Share& share, const Grid& grid, int rank, const Extents& thickness);

}  // namespace tca::himeno
