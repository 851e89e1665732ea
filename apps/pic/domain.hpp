// A rank's part of the box of cells, and where its neighbours' parts begin.
//
// Arrays are of the rank's own cells with one ghost below them and two above along each dimension, x contiguous. In two
// dimensions there is one layer along z, and a step along z leads nowhere: so differences along z are 0 by themselves, and
// the equations of three dimensions serve for both.
#pragma once

#include <array>
#include <cstdint>
#include <vector>

#include "pic/deck.hpp"
#include "tca/grid.hpp"
#include "tca/halo.hpp"

namespace tca::pic {

// Of the ghosts those that have E, and those in which particles of this rank's cells leave flow.
inline constexpr GhostWidth field_ghosts{1, 1}, flow_ghosts{1, 2};

// What becomes of a particle that has left a rank's cells in one of 26 directions.
struct Way {
  static constexpr int itself = -1;  // it comes in again on the rank's other side
  static constexpr int gone = -2;    // a wall has absorbed it

  int neighbour = gone;    // among Domain::neighbours, or one of these
  std::int32_t shift = 0;  // from the ghost's index to that of the cell that it stands for, at its owner
};

class Domain {
 public:
  // The grid is of `make_grid`.
  Domain(const Deck& deck, const Grid& grid, int rank);

  int dims() const { return dims_; }
  const Grid& grid() const { return grid_; }
  std::int64_t elements() const { return elements_; }  // of an array, ghosts included
  std::int64_t own_cells() const { return cells_[0] * cells_[1] * cells_[2]; }

  // By axis, x first: own cells, the first of them among all, and how far the next one is in an array.
  std::int64_t cells(int axis) const { return cells_[static_cast<std::size_t>(axis)]; }
  std::int64_t first(int axis) const { return first_[static_cast<std::size_t>(axis)]; }
  std::int64_t step(int axis) const { return step_[static_cast<std::size_t>(axis)]; }
  std::int64_t index(std::int64_t x, std::int64_t y, std::int64_t z) const {
    return origin_ + x + y * step_[1] + z * step_[2];
  }

  // Whether the rank's cells go all the way round the box along an axis, so that its ghosts there stand for its own cells.
  bool wraps(int axis) const { return wraps_[static_cast<std::size_t>(axis)]; }

  // Whether the box ends in a wall on this rank's side. The wall above stands at the last node, so that the last cell
  // along x is outside.
  bool wall_below() const { return wall_below_; }
  bool wall_above() const { return wall_above_; }

  // The other ranks to which particles may go, in ascending order.
  const std::vector<int>& neighbours() const { return neighbours_; }

  // In which direction a cell of an array lies: a number of `ways`, or `here`.
  static constexpr std::uint8_t here = 13;
  const std::uint8_t* directions() const { return directions_.data(); }
  const Way& way(std::uint8_t direction) const { return ways_[direction]; }

  // The interior and the options of a halo of such arrays, of which as many ghosts are exchanged: those of other ranks'
  // cells. Ghosts that stand for own ones go with them, as if they were cells.
  std::vector<std::int64_t> interior() const;
  HaloOptions halo_options(GhostWidth exchange) const;

 private:
  void find_neighbours(int rank);
  void mark_directions();

  int dims_;
  Grid grid_;
  std::array<std::int64_t, 3> cells_{1, 1, 1}, first_{}, step_{1, 0, 0};
  std::array<bool, 3> wraps_{};
  std::int64_t origin_ = 0, elements_ = 0;
  bool wall_below_, wall_above_;
  std::vector<int> neighbours_;
  std::array<Way, 27> ways_{};
  std::vector<std::uint8_t> directions_;
};

// Returns a grid of so many ranks; 0 ranks along a dimension are chosen. All ranks get equal parts, of at least two cells
// along each dimension. Throws Error{invalid_argument} where none does that, and says which would.
Grid make_grid(const Deck& deck, int ranks, const std::vector<int>& shape);

// The neighbours of a rank in such a grid, itself excluded, in ascending order.
std::vector<int> neighbours_in(const Grid& grid, int rank);

}  // namespace tca::pic
