// A window that begins at a cache line cannot hold what has to begin at a page.
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
