// Misuse: a window of const elements, which could never be written.
#include "tca/tca.hpp"

void window_of_const(tca::World& world) {
#ifdef TCA_MISUSE
  (void)world.window<const int>(4);
#else
  (void)world.window<int>(4);
#endif
}
