// Quenched generation of configurations: pseudo heat bath (N. Cabibbo and E. Marinari, 1982) and
// over-relaxation for Wilson's action
//   S = beta sum over plaquettes of (1 - Re tr U / 3).
//
// The random numbers of an update depend on the seed, the sweep, and the link's position and direction. Every
// link is computed from its neighbours in a fixed order. So the configuration is the same to the bit on every
// grid.
#pragma once

#include <cstdint>

#include "qcd/gauge.hpp"

namespace tca::qcd {

// Throws Error{invalid_argument} unless every extent of the whole lattice is even. All links of one direction
// and parity are updated together, so they must not depend on each other.
void check_heat_bath(const Extents& global);

class HeatBath {
 public:
  // Throws what check_heat_bath throws.
  HeatBath(Gauge& gauge, double beta, std::uint64_t seed);

  // Collective. Updates every link once, in three SU(2) subgroups, with the distribution that its neighbours
  // imply. Random numbers are drawn by the method of Kennedy and Pendleton (1985), or by that of Creutz
  // (1980) where the former would reject most of them.
  void sweep();

  // Collective. Reflects every link once in each subgroup: a large step that leaves the action as it is.
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
