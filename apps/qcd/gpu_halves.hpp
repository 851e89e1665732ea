// Memory for halves that kernels store at their neighbours, between steps that the host starts; gpu_ghosts.hpp has the protocol.
#pragma once

#include "qcd/gpu_ghosts.hpp"
#include "qcd/lattice.hpp"
#include "shared/gpu_call.hpp"
#include "tca/window.hpp"
#include "tca/world.hpp"

namespace tca::qcd {

template <class T>
class StoredHalves {
 public:
  // Collective, for a lattice with neighbours that all run on GPUs of their own. `reals` travel for each site of a face; kernels
  // wait with `patience`.
  StoredHalves(World& world, const Lattice& lattice, int reals, const device::Patience& patience);

  const Crossing<T>& crossing() const { return crossing_; }

 private:
  Window<T> ghosts_;
  Window<device::Word> signals_;  // by direction
  apps::DeviceArray<device::Word> exchanges_;
  Crossing<T> crossing_;
};

}  // namespace tca::qcd
