// Holds back steps that must not begin yet.
//
// If the first fabric does not reach a window's memory, an immediate put uses a different fabric from the
// signals of chains to the same rank. A step that began after the put could signal ahead of it, and the
// partner would believe that the put had arrived. So steps started in the meantime are held back until it
// has. A later call of this rank begins them. docs/decisions.md says why the put does not wait instead.
#pragma once

#include <memory>
#include <vector>

#include "fabric/fabric.hpp"

namespace tca::core {

class ChainState;

class DeferredSteps {
 public:
  explicit DeferredSteps(const std::vector<std::unique_ptr<fabric::Fabric>>& fabrics) : fabrics_(fabrics) {}
  DeferredSteps(const DeferredSteps&) = delete;

  // Notes that an immediate put is under way that signals may overtake.
  void put_past_signals() { put_past_signals_ = true; }

  // Returns whether a step must wait for such a put.
  bool must_defer() { return put_past_signals_ && still_must_defer(); }

  // Returns the ranks to which immediate puts are still under way.
  std::vector<int> outstanding() const;

  void defer(ChainState& chain) { deferred_.push_back(&chain); }
  void remove(ChainState& chain) { std::erase(deferred_, &chain); }

  // Begins all steps if they no longer have to be held back.
  void start_ready() {
    if (!deferred_.empty() && !must_defer()) begin_all();
  }

 private:
  bool still_must_defer();
  void begin_all();

  const std::vector<std::unique_ptr<fabric::Fabric>>& fabrics_;
  bool put_past_signals_ = false;
  std::vector<ChainState*> deferred_;
};

}  // namespace tca::core
