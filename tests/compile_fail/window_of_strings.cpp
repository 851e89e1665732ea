// Misuse: a window of elements that are not trivially copyable.
#include <string>

#include "tca/tca.hpp"

void window_of_strings(tca::World& world) {
#ifdef TCA_MISUSE
  (void)world.window<std::string>(4);
#else
  (void)world.window<char>(4);
#endif
}
