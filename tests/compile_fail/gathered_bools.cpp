// Misuse: gathering bools. A std::vector<bool> packs them, so they cannot be received into it.
#include "tca/tca.hpp"

bool all_of(tca::World& world, bool mine) {
#ifdef TCA_MISUSE
  for (const bool each : world.all_gather(mine)) mine = mine && each;
#else
  for (const char each : world.all_gather(static_cast<char>(mine))) mine = mine && each != 0;
#endif
  return mine;
}
