// One rank's share of the lattice, in two colours, and where each of its sites lies in memory.
//
// Sites whose coordinates have an even sum are even, the others odd. All neighbours of a site have the other colour, so
// the sites of one colour can be updated in any order. Each colour has arrays of its own, in which a row holds every
// second site along x: site h of row (z, y) of a colour lies at x = 2 h + (z + y + colour) % 2. Its neighbours along y and
// z are the sites of the other colour at the same h, and those along x the ones at h and beside it. So all is contiguous,
// and what a neighbouring rank needs of a colour are the outer cells of a box.
#pragma once

#include <array>
#include <cstdint>
#include <vector>

#include "spin/problem.hpp"
#include "tca/grid.hpp"

namespace tca::spin {

// The cells [begin, end) of a colour along z, y and x; 0 is the first of the rank's own.
struct Box {
  Extents begin, end;

  Extents size() const { return {end[0] - begin[0], end[1] - begin[1], end[2] - begin[2]}; }
  bool empty() const { return begin[0] >= end[0] || begin[1] >= end[1] || begin[2] >= end[2]; }
};

// A rank's own cells: those that other ranks need, and the rest.
struct Division {
  std::vector<Box> shell;
  Box core;
};

// Returns a grid that cuts a colour's cells, which are half as many along x; 0 ranks along a dimension are chosen. It is
// periodic where it cuts. Throws Error{invalid_argument} where a rank would have
// none.
Grid make_grid(const Problem& problem, int ranks, const std::vector<int>& shape);

class Share {
 public:
  // The grid is of `make_grid`.
  Share(const Problem& problem, const Grid& grid, int rank);

  const Problem& problem() const { return problem_; }
  const Grid& grid() const { return grid_; }
  const Extents& cells() const { return cells_; }       // of a colour, without ghosts
  const Extents& first() const { return first_; }       // this rank's first cell among all
  std::int64_t elements() const { return elements_; }   // of a field, ghosts included
  int fields() const { return 3 * problem_.replicas; }  // of spins: the components of each replica
  const Division& division() const { return division_; }
  Box whole() const { return {{0, 0, 0}, cells_}; }
  bool is_cut(std::size_t dim) const { return grid_.extent(static_cast<int>(dim)) > 1; }

  // Where a cell lies in a field; ghosts, at -1 and behind the last cell, have a place too.
  std::int64_t index(std::int64_t z, std::int64_t y, std::int64_t h) const {
    return ((z + 1) * (cells_[1] + 2) + y + 1) * (cells_[2] + 2) + h + 1;
  }
  // Whether the sites of a row lie at even or at odd x.
  int offset(int colour, std::int64_t z, std::int64_t y) const {
    return static_cast<int>((first_[0] + z + first_[1] + y + colour) & 1);
  }
  Extents site_of(int colour, std::int64_t z, std::int64_t y, std::int64_t h) const {
    return {first_[0] + z, first_[1] + y, 2 * (first_[2] + h) + offset(colour, z, y)};
  }

  // A colour's couplings of the bonds to the next sites along a dimension, a field with those of ghosts, of which the ones
  // below lead to own cells.
  template <class Real>
  std::vector<Real> couplings(int colour, std::size_t dim) const;
  // A colour's spins at the beginning, all fields one behind the other, with those of ghosts.
  template <class Real>
  std::vector<Real> first_spins(int colour) const;

 private:
  // Calls visit(site, place in a field) for all cells, ghosts included.
  template <class Visit>
  void each_cell(int colour, const Visit& visit) const;

  Problem problem_;
  Grid grid_;
  Extents first_, cells_;
  std::int64_t elements_;
  Division division_;
};

}  // namespace tca::spin
