// Misuse: a window of page-aligned elements. A window begins at a cache line, so it cannot align them.
#include "tca/tca.hpp"

#ifdef TCA_MISUSE
constexpr int alignment = 4096;
#else
constexpr int alignment = 64;
#endif
struct alignas(alignment) Page {
  char bytes[4096];
};

void window_of_pages(tca::World& world) { (void)world.window<Page>(4); }
