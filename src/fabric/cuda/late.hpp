// For whom a wait on a GPU has been long.
#pragma once

#include <string>
#include <vector>

#include "tca/device/memory.hpp"

namespace tca::cuda {

// The latest step of those that a kernel has left behind, a word a rank or link, and those that had it; see device::Patience.
struct LatestWait {
  device::Word step = 0;
  std::vector<int> ranks;
};

inline LatestWait latest_wait(const device::Word* waiting, device::Word ranks) {
  LatestWait latest;
  for (device::Word rank = 0; rank < ranks; ++rank) {
    const device::Word step = device::load_relaxed(waiting + rank);
    if (step == 0 || (!latest.ranks.empty() && !device::reached(step, latest.step))) continue;
    if (step != latest.step) latest.ranks.clear();
    latest.step = step;
    latest.ranks.push_back(static_cast<int>(rank));
  }
  return latest;
}

// What the wait that gave up was part of, and for whom it was.
struct Late {
  std::string what;
  std::vector<int> ranks;
};

}  // namespace tca::cuda
