// Memory for halves that kernels store at their neighbours, between steps that the host starts; gpu_ghosts.hpp has the protocol.
#pragma once

#include <string>

#include "qcd/gpu_ghosts.hpp"
#include "qcd/lattice.hpp"
#include "shared/gpu_call.hpp"
#include "tca/team.hpp"
#include "tca/window.hpp"
#include "tca/world.hpp"

namespace tca::qcd {

template <class T>
class StoredHalves {
 public:
  // Collective, for a lattice with neighbours, where kernels reach all ranks and each has a GPU of its own. `reals` travel for each
  // site of a face.
  StoredHalves(World& world, const Lattice& lattice, int reals, const std::string& name);

  const Crossing<T>& crossing() const { return crossing_; }

 private:
  Team waiting_;  // what its kernels have waited for in vain is told as a step of its
  Window<T> ghosts_;
  Window<device::Word> signals_;  // by direction
  apps::DeviceArray<device::Word> exchanges_;
  Crossing<T> crossing_;
};

}  // namespace tca::qcd
