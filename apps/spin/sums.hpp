// What is added up over the bonds of the lattice. Callable on the GPU.
#pragma once

#include <cstddef>

#include "spin/problem.hpp"
#include "tca/device/memory.hpp"

namespace tca::spin {

// Over the bonds that begin at own sites, in the forward directions, or over those of all ranks.
struct Sums {
  double energy = 0;  // of all replicas
  double alike = 0;   // (S.S')^2, of all replicas
  double shared = 0;  // S.S' of one replica times that of another, over all pairs
  double energies[most_replicas] =
      {};               // of each replica, by `coarse` bonds; where they exchange temperatures
  double off_unit = 0;  // the largest | |S|^2 - 1 |
};

// How many of these numbers, from the first on, are added up over the ranks.
inline int sum_count(const Problem& problem) { return 3 + static_cast<int>(problem.temperatures.size()); }

// What a bond adds to the energy, as a multiple of 2^-24. So the energies of replicas that exchange their temperatures are the
// same on any grid, because sums of such numbers, below 2^29, are exact in any order.
TCA_DEVICE double coarse(double energy) {
  constexpr double large = 1.5 * (1 << 28);  // the neighbouring numbers are 2^-24 apart
  return (energy + large) - large;
}

}  // namespace tca::spin
