// Misuse: copying a world, which would give two handles to it.
#include <utility>

#include "tca/tca.hpp"

tca::World copied_world(tca::World& world) {
#ifdef TCA_MISUSE
  return tca::World(world);
#else
  return std::move(world);
#endif
}
