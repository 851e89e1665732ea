// Steps that must not begin yet.
//
// Where the first fabric does not reach a window's memory, an immediate put takes another one than the
// signals of chains to the same rank. A step that began behind it could signal past it, and the partner would
// take the put to have arrived. So until it has, steps that are started are held back; a later look of this
// rank begins them.
#pragma once

#include <cstddef>
#include <memory>
#include <vector>

#include "fabric/fabric.hpp"

namespace tca::core {

class ChainState;

class HeldSteps {
 public:
  explicit HeldSteps(const std::vector<std::unique_ptr<fabric::Fabric>>& fabrics) : fabrics_(fabrics) {}
  HeldSteps(const HeldSteps&) = delete;

  // An immediate put that signals may overtake is under way.
  void put_past_signals() { put_past_signals_ = true; }

  // Whether a step has to wait for one.
  bool holds_back() { return put_past_signals_ && still_holds_back(); }

  // The ranks that immediate puts are still under way to.
  std::vector<int> unsettled() const;

  // There are `by` more committed chains. Where there are several fabrics each chain may be held back: there
  // is room for all, so that `hold` does not allocate. The room doubles, or what is given back would lie in
  // pieces between the chains.
  void count_chain(int by) {
    if (fabrics_.size() < 2) return;
    chains_ += by;
    if (const auto chains = static_cast<std::size_t>(chains_); held_.capacity() < chains)
      held_.reserve(2 * chains);
  }
  void hold(ChainState& chain) { held_.push_back(&chain); }
  void let_go(ChainState& chain) { std::erase(held_, &chain); }

  // Begins those that need to be held back no longer.
  void begin_due() {
    if (!held_.empty() && !holds_back()) begin_all();
  }

 private:
  bool still_holds_back();
  void begin_all();

  const std::vector<std::unique_ptr<fabric::Fabric>>& fabrics_;
  bool put_past_signals_ = false;
  int chains_ = 0;
  std::vector<ChainState*> held_;
};

}  // namespace tca::core
