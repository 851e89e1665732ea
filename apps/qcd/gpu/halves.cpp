#include "qcd/gpu/halves.hpp"

#include "tca/device/team.hpp"
#include "tca/device/window.hpp"

namespace tca::qcd {

template <class T>
StoredHalves<T>::StoredHalves(World& world, const Lattice& lattice, int reals, const std::string& name)
    : waiting_(world.team(name, 1)),
      ghosts_(world.window<T>(lattice.slots() * reals, "half spinors")),
      signals_(world.window<device::Word>(directions, "signals of half spinors")),
      exchanges_(2) {
  const DeviceWindow<T> ghosts = ghosts_.device();
  const DeviceWindow<device::Word> signals = signals_.device();
  crossing_.ghosts = ghosts_.data();
  crossing_.raised = signals_.data();
  crossing_.exchanges = exchanges_.data();
  crossing_.limits = waiting_.device().limits;
  for (const Face& face : lattice.faces()) {
    crossing_.to[face.direction] = ghosts.parts[face.neighbour];
    // Raised where the neighbour looks for this rank, in the opposite direction.
    crossing_.raise[face.direction] = signals.parts[face.neighbour] + (face.direction ^ 1);
  }
}

template class StoredHalves<float>;
template class StoredHalves<double>;

}  // namespace tca::qcd
