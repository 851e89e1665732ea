// Misuse: a window of addresses, which mean nothing to another rank.
#include "tca/tca.hpp"

void window_of_pointers(tca::World& world) {
#ifdef TCA_MISUSE
  (void)world.window<int*>(4);
#else
  (void)world.window<int>(4);
#endif
}
