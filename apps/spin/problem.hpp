// A Heisenberg spin glass: unit vectors S on the sites of a periodic lattice, whose energy is the sum of -J S.S' over all
// bonds between nearest neighbours, with couplings J that are drawn once and stay.
#pragma once

#include <array>
#include <cstdint>
#include <string>
#include <vector>

namespace tca::spin {

// Along z (the slowest dimension), y and x (contiguous).
using Extents = std::array<std::int64_t, 3>;

enum class Couplings {
  gaussian,  // of mean 0 and variance 1 (S. F. Edwards and P. W. Anderson, J. Phys. F 5 (1975) 965)
  rings,     // 1 along x and 0 otherwise: chains that close, whose energy is known
};

struct Problem {
  Extents extents{32, 32, 32};
  double beta = 1;  // the inverse temperature, in units of the couplings
  Couplings couplings = Couplings::gaussian;
  int replicas = 1;  // with the same couplings and other spins
  // From the lowest: one for each replica, which exchange them. Empty where all have 1 / beta.
  std::vector<double> temperatures = {};
  std::uint64_t seed = 1;

  std::int64_t sites() const { return extents[0] * extents[1] * extents[2]; }
  // The site's number, whose coordinates may be those of a ghost.
  std::int64_t site(Extents at) const;
  // The coupling of the bond from a site to its next neighbour along a dimension.
  double coupling(const Extents& at, std::size_t dim) const;
};

inline constexpr int most_replicas = 16;

// The inverse temperatures of the replicas at the beginning.
std::vector<double> first_betas(const Problem& problem);

// Throws Error{invalid_argument} for extents that a checkerboard does not fit, and for temperatures or a number of
// replicas that cannot be.
void check(const Problem& problem);

std::string describe(const Extents& extents);  // e.g. "64x64x128"

// The energy a site of rings that are long: 1/b - coth b (M. E. Fisher, Am. J. Phys. 32 (1964) 343).
double energy_of_rings(double beta);

}  // namespace tca::spin
