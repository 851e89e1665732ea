// A rank's spins and the couplings of their bonds on a host, and the updates of its sites; share.hpp says where they lie.
#pragma once

#include <array>
#include <cstdint>
#include <span>
#include <vector>

#include "spin/share.hpp"
#include "spin/sums.hpp"
#include "spin/update.hpp"
#include "tca/window.hpp"
#include "tca/world.hpp"

namespace tca::spin {

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

  // By replica; all have that of the problem at first.
  void set_betas(std::span<const double> betas) { betas_.assign(betas.begin(), betas.end()); }

  const Share& share() const { return share_; }

  // The components of a spin of this rank, of its `h`-th site of a colour along x.
  Vector<Real> spin(int colour, const Extents& cell, int replica) const;

  // A field of each component of each replica, one behind the other.
  const Window<Real>& spins(int colour) const { return spins_[static_cast<std::size_t>(colour)]; }

 private:
  // What a row's update reads and writes; see lattice.cpp.
  struct Row;

  Row row(int colour, int replica, std::int64_t z, std::int64_t y) const;
  template <class Act>
  void each_row(int colour, const Box& box, const Act& update);
  void add_bonds(int colour, std::int64_t z, std::int64_t y, Sums& sums) const;

  Share share_;
  std::vector<double> betas_;
  std::array<Window<Real>, 2> spins_;
  // By colour and dimension: of the bond to the next site. Ghosts below have theirs, which lead to own sites.
  std::array<std::array<std::vector<Real>, 3>, 2> couplings_;
};

extern template class Lattice<float>;
extern template class Lattice<double>;

}  // namespace tca::spin
