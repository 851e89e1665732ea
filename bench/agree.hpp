// Agreement among ranks.
#pragma once

#include <algorithm>
#include <vector>

#include "tca/world.hpp"

namespace tca::bench {

// Collective. Returns whether `mine` is true on all ranks.
inline bool all_say(World& world, bool mine) {
  const std::vector<char> all = world.all_gather(static_cast<char>(mine));
  return std::ranges::all_of(all, [](char yes) { return yes != 0; });
}

}  // namespace tca::bench
