// StoredHalves is the memory for halves that kernels store at their neighbours, when the host starts a solve
// step by step. See gpu/ghosts.hpp for the protocol.
#pragma once

#include <optional>
#include <string>

#include "qcd/gpu/ghosts.hpp"
#include "qcd/lattice.hpp"
#include "shared/gpu_call.hpp"
#include "tca/chain.hpp"
#include "tca/window.hpp"
#include "tca/world.hpp"

namespace tca::qcd {

// Calls visit(face, face behind) for each direction with a neighbour, in the order in which every rank declares what
// it sends by direction: to the first face, and from the one behind, whose neighbour sends in this direction.
template <class Visit>
void for_each_way(const Lattice& lattice, const Visit& visit) {
  const Face* faces[directions] = {};
  for (const Face& face : lattice.faces()) faces[face.direction] = &face;
  for (const Face* const face : faces)
    if (face != nullptr) visit(*face, *faces[face->direction ^ 1]);
}

template <class T>
class StoredHalves {
 public:
  // Collective. For a lattice with neighbours, if kernels reach all ranks and each rank has a GPU of its own.
  // `reals` cross for each site of a face.
  StoredHalves(World& world, const Lattice& lattice, int reals, const std::string& name);

  const Crossing<T>& crossing() const { return crossing_; }

 private:
  Window<T> ghosts_;
  Chain chain_;  // of a signal for each direction
  apps::DeviceArray<device::Word> exchanges_;
  Crossing<T> crossing_;
};

}  // namespace tca::qcd
