// StoredHalves is the memory for halves that kernels store at their neighbours, when the host starts a solve
// step by step. See gpu/ghosts.hpp for the protocol.
#pragma once

#include <string>

#include "qcd/gpu/ghosts.hpp"
#include "qcd/lattice.hpp"
#include "shared/gpu_call.hpp"
#include "tca/team.hpp"
#include "tca/window.hpp"
#include "tca/world.hpp"

namespace tca::qcd {

template <class T>
class StoredHalves {
 public:
  // Collective. For a lattice with neighbours, if kernels reach all ranks and each rank has a GPU of its own.
  // `reals` cross for each site of a face.
  StoredHalves(World& world, const Lattice& lattice, int reals, const std::string& name);

  const Crossing<T>& crossing() const { return crossing_; }

 private:
  // A wait in vain of the kernels is reported as a step of this team.
  Team waiting_;
  Window<T> ghosts_;
  Window<device::Word> signals_;  // indexed by direction
  apps::DeviceArray<device::Word> exchanges_;
  Crossing<T> crossing_;
};

}  // namespace tca::qcd
