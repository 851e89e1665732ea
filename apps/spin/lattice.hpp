// One rank's part of the lattice: its spins in two colours, the couplings of its bonds, and the updates of its sites.
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
#include "tca/halo.hpp"
#include "tca/window.hpp"
#include "tca/world.hpp"

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

// Sums over the bonds that begin at own sites, in the forward directions.
struct Sums {
  double energy = 0;    // of all replicas
  double alike = 0;     // (S.S')^2, of all replicas
  double shared = 0;    // S.S' of one replica times that of another, over all pairs
  double off_unit = 0;  // the largest | |S|^2 - 1 |
};

// Returns a grid that cuts a colour's cells, which are half as many along x; 0 ranks along a dimension are chosen. It is
// periodic where it cuts. Throws Error{invalid_argument} where a rank would have
// none.
Grid make_grid(const Problem& problem, int ranks, const std::vector<int>& shape);

template <class Real>
class Lattice {
 public:
  // Collective. The grid is of `make_grid`.
  Lattice(World& world, const Problem& problem, const Grid& grid);

  // Update one colour's sites of a box, in all replicas. Ghosts of the other colour have been filled.
  // A spin is reflected at its field, which keeps the energy.
  void over_relax(int colour, const Box& box);
  // A spin is drawn anew from the distribution that its field and the temperature give it.
  void heat_bath(int colour, const Box& box, std::uint32_t sweep);

  // Fills the ghosts of a colour along the dimensions that the grid does not cut, where both ends are this rank's.
  void wrap(int colour);

  // All ghosts have been filled.
  Sums sums() const;

  const Division& division() const { return division_; }
  Box whole() const { return {{0, 0, 0}, cells_}; }
  std::int64_t own_sites() const { return 2 * cells_[0] * cells_[1] * cells_[2]; }

  // The components of a spin of this rank, of its `h`-th site of a colour along x.
  std::array<Real, 3> spin(int colour, const Extents& cell, int replica) const;

  // A field of each component of each replica, one behind the other.
  const Window<Real>& spins(int colour) const { return spins_[static_cast<std::size_t>(colour)]; }
  int fields() const { return 3 * problem_.replicas; }
  std::int64_t elements() const { return elements_; }  // of a field, ghosts included
  const Extents& cells() const { return cells_; }      // without ghosts
  const Extents& first() const { return first_; }      // this rank's first cell among all
  const Problem& problem() const { return problem_; }
  const Grid& grid() const { return grid_; }

 private:
  // What a row's update reads and writes; see lattice.cpp.
  struct Row;

  std::int64_t index(std::int64_t z, std::int64_t y, std::int64_t h) const {
    return ((z + 1) * (cells_[1] + 2) + y + 1) * (cells_[2] + 2) + h + 1;
  }
  // Whether the sites of a row lie at even or at odd x.
  int offset(int colour, std::int64_t z, std::int64_t y) const {
    return static_cast<int>((first_[0] + z + first_[1] + y + colour) & 1);
  }
  Extents site_of(int colour, std::int64_t z, std::int64_t y, std::int64_t h) const;
  Row row(int colour, int replica, std::int64_t z, std::int64_t y) const;
  template <class Update>
  void each_row(int colour, const Box& box, const Update& update);
  void add_bonds(int colour, std::int64_t z, std::int64_t y, Sums& sums) const;
  void draw_couplings();
  void draw_spins();

  Problem problem_;
  Grid grid_;
  Extents first_, cells_;
  std::int64_t elements_;
  Division division_;
  std::array<Window<Real>, 2> spins_;
  // By colour and dimension: of the bond to the next site. Ghosts below have theirs, which lead to own sites.
  std::array<std::array<std::vector<Real>, 3>, 2> couplings_;
};

extern template class Lattice<float>;
extern template class Lattice<double>;

}  // namespace tca::spin
