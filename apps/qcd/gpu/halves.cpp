#include "qcd/gpu/halves.hpp"

#include "tca/device/produced.hpp"
#include "tca/device/window.hpp"

namespace tca::qcd {

// A neighbour's signal for its direction comes here from the opposite one. Every rank declares its signals by its
// directions, which tells them apart where both neighbours along a dimension are one rank.
template <class T>
StoredHalves<T>::StoredHalves(World& world, const Lattice& lattice, int reals, const std::string& name)
    : ghosts_(world.window<T>(lattice.slots() * reals, "half spinors")),
      chain_(world.chain(name, {.guarded = false})),
      exchanges_(2) {
  std::optional<ProducedSignal> signals[directions];
  std::optional<ExpectedSignal> expected[directions];
  for_each_way(lattice, [&](const Face& to, const Face& from) {
    signals[to.direction] = chain_.signal_produced(to.neighbour);
    expected[from.direction] = chain_.expect_produced_signal(from.neighbour);
  });
  chain_.commit();
  const DeviceWindow<T> ghosts = ghosts_.device();
  crossing_.ghosts = ghosts_.data();
  crossing_.exchanges = exchanges_.data();
  crossing_.limits = chain_.device_produced().progress().limits;
  for (const Face& face : lattice.faces()) {
    crossing_.to[face.direction] = ghosts.parts[face.neighbour];
    crossing_.signals[face.direction] = signals[face.direction]->device();
    crossing_.expected[face.direction] = expected[face.direction]->device();
  }
}

template class StoredHalves<float>;
template class StoredHalves<double>;

}  // namespace tca::qcd
