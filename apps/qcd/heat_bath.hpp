// Quenched generation: pseudo heat bath (N. Cabibbo and E. Marinari, 1982) and over-relaxation for Wilson's action
//   S = beta sum over plaquettes of (1 - Re tr U / 3).
//
// The random numbers of an update depend on the seed, the sweep, the link's place and direction, and every link is
// computed from its neighbours in one order: the configuration is the same to the bit on every grid.
#pragma once

#include <cstdint>

#include "qcd/gauge.hpp"

namespace tca::qcd {

// Throws Error{invalid_argument} unless every extent of the whole lattice is even: links of one direction and parity are updated
// together, which must not depend on each other.
void check_heat_bath(const Extents& global);

class HeatBath {
 public:
  // Throws as check_heat_bath.
  HeatBath(Gauge& gauge, double beta, std::uint64_t seed);

  // Collective. Every link once, in three subgroups of SU(2): distributed as its neighbours demand. Kennedy's and
  // Pendleton's method (1985) draws, or Creutz's (1980) where that would refuse most.
  void sweep();

  // Collective. Every link once, reflected in each subgroup: a large step that keeps the action.
  void over_relax();

 private:
  template <class Update>
  void update_all(const Update& update);

  Gauge& gauge_;
  double beta_;
  std::uint64_t seed_;
  std::uint64_t sweep_ = 0;
};

}  // namespace tca::qcd
