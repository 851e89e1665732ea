// Holds back steps that must not begin yet.
//
// Where the first fabric does not reach a window's memory, an immediate put takes another fabric than the
// signals of chains to the same rank. A step that began after the put could signal past it, and the partner
// would believe that the put had arrived. So the steps that are started meanwhile are held back until it has.
// A later call of this rank begins them.
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

  // Notes that an immediate put that signals may overtake is under way.
  void put_past_signals() { put_past_signals_ = true; }

  // Returns whether a step has to wait for such a put.
  bool holds_back() { return put_past_signals_ && still_holds_back(); }

  // Returns the ranks to which immediate puts are still under way.
  std::vector<int> unsettled() const;

  // Counts `by` more committed chains. With several fabrics each of them may be held back, and there is room
  // for all, so that `hold` does not allocate. The room doubles: with smaller steps the freed pieces would
  // lie scattered between the chains.
  void count_chain(int by) {
    if (fabrics_.size() < 2) return;
    chains_ += by;
    if (const auto chains = static_cast<std::size_t>(chains_); held_.capacity() < chains)
      held_.reserve(2 * chains);
  }
  void hold(ChainState& chain) { held_.push_back(&chain); }
  void let_go(ChainState& chain) { std::erase(held_, &chain); }

  // Begins all steps if they need not be held back any longer.
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
