// What each rank owns of the array, and which of its cells come first.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <vector>

#include "himeno/problem.hpp"
#include "tca/grid.hpp"

namespace tca::himeno {

using Share = std::array<Range, 3>;  // of the interior cells, per dimension

// [begin, end) in local cells; local cell 0 is the ghost.
struct Box {
  Extents begin;
  Extents end;

  bool empty() const { return begin[0] >= end[0] || begin[1] >= end[1] || begin[2] >= end[2]; }
};

// Throws Error{invalid_argument} unless the grid has three dimensions, and in each a cell for every rank.
void check_grid(const Problem& problem, const Grid& grid);

Share share_of(const Problem& problem, const Grid& grid, int rank);

// Ghosts included.
Extents extents_of(const Share& share);
std::size_t cells_of(const Share& share);

// Where a local cell is in an array of `extents`, ghosts included.
inline std::size_t index_in(const Extents& extents, const Extents& cell) {
  return static_cast<std::size_t>((cell[0] * extents[1] + cell[1]) * extents[2] + cell[2]);
}

// The steps to all 26 neighbours, across faces, edges and corners.
std::vector<Grid::Coordinates> directions();

// The cells that the neighbour in that direction needs, or the ghosts that it fills.
Box slice(const Share& share, const Grid::Coordinates& step, bool ghosts);

// A rank's own cells: those that its neighbours need or that read what the neighbours send, and the rest.
struct Division {
  std::vector<Box> shell;  // at most six, none of them empty
  Box core;                // may be empty
};

// All of a rank's own cells.
Box whole(const Share& share);

// Peels off the core a slab on each side that has a neighbour, `thickness` cells along each dimension; no two overlap.
Division divide(const Share& share, const Grid& grid, int rank, const Extents& thickness);

}  // namespace tca::himeno
