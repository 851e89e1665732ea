#include "core/chain/deferred_steps.hpp"

#include <algorithm>

#include "core/chain/chain_state.hpp"
#include "fabric/messages.hpp"

namespace tca::core {

bool DeferredSteps::still_must_defer() {
  put_past_signals_ = !std::ranges::all_of(fabrics_, [](const auto& fabric) {
    fabric::Messages* const messages = fabric->messages();
    return messages == nullptr || messages->is_quiescent();
  });
  return put_past_signals_;
}

std::vector<int> DeferredSteps::outstanding() const {
  std::vector<int> ranks;
  for (const auto& fabric : fabrics_) {
    fabric::Messages* const messages = fabric->messages();
    if (messages == nullptr) continue;
    const std::vector<int> of_fabric = messages->outstanding();
    ranks.insert(ranks.end(), of_fabric.begin(), of_fabric.end());
  }
  return ranks;
}

// Each chain removes itself from the list.
void DeferredSteps::begin_all() {
  while (!deferred_.empty()) deferred_.back()->begin_deferred();
}

}  // namespace tca::core
