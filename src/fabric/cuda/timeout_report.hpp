// Finds out which ranks a GPU has waited for too long.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "base/fail.hpp"
#include "base/text/ranks.hpp"
#include "tca/device/chain.hpp"
#include "tca/device/memory.hpp"

namespace tca::cuda {

// The latest step for which kernels have waited long, and the ranks that they waited for.
struct LatestWait {
  device::Word step = 0;
  std::vector<int> ranks;
};

inline LatestWait latest_wait(const device::WaitLimits& limits, std::size_t links) {
  LatestWait latest;
  for (std::size_t link = 0; link < links; ++link) {
    const device::Word step = device::load_relaxed(limits.waiting + link);
    if (step == 0 || (!latest.ranks.empty() && !device::reached(step, latest.step))) continue;
    if (step != latest.step) latest.ranks.clear();
    latest.step = step;
    latest.ranks.push_back(static_cast<int>(limits.ranks == nullptr ? link : limits.ranks[link]));
  }
  return latest;
}

// Clears the words. A word remains even after its wait has succeeded, whereas a wait that goes on writes its
// word again within a millisecond or so.
inline void forget_waits(device::Word* waiting, device::Word ranks) {
  for (device::Word rank = 0; rank < ranks; ++rank) device::store_relaxed(waiting + rank, 0);
}

// Names the step that a wait belonged to; `step` is 0 if no kernel has reported it.
inline std::string describe_step(device::Word step, std::string_view of) {
  return step == 0 ? std::string(of) : fmt::format("step {} of {}", step, of);
}

// A wait that gave up: the step that it belonged to, and the ranks that it waited for.
struct TimeoutReport {
  std::string what;
  std::vector<int> ranks;
  std::string chain = {};  // if it is one
  device::Word step = 0;   // of the chain

  static TimeoutReport of_chain(std::string_view name, device::Word step, std::vector<int> ranks) {
    return {describe_step(step, fmt::format("chain '{}'", name)), std::move(ranks), std::string(name), step};
  }
  ErrorFields about() const {
    ErrorFields about{.chain = chain, .missing = ranks};
    if (step != 0) about.step = step;
    return about;
  }
  std::string whom() const {
    return ranks.empty() ? "its partners" : fmt::format("rank {}", base::list_ranks(ranks));
  }
};

}  // namespace tca::cuda
