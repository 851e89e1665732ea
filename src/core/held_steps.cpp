#include "core/held_steps.hpp"

#include <algorithm>

#include "core/chain_state.hpp"

namespace tca::core {

bool HeldSteps::still_holds_back() {
  put_past_signals_ = !std::ranges::all_of(fabrics_, [](const auto& fabric) { return fabric->settled(); });
  return put_past_signals_;
}

std::vector<int> HeldSteps::unsettled() const {
  std::vector<int> ranks;
  for (const auto& fabric : fabrics_) {
    const std::vector<int> of_fabric = fabric->unsettled();
    ranks.insert(ranks.end(), of_fabric.begin(), of_fabric.end());
  }
  return ranks;
}

// Each chain removes itself from the list.
void HeldSteps::begin_all() {
  while (!held_.empty()) held_.back()->begin_held();
}

}  // namespace tca::core
