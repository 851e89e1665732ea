// What a directive has set up where it stands, and whether it is the same the next time.
#pragma once

#include "runtime/runtime.hpp"

namespace tca::xacc {

// What a site keeps; made as What{} where it is first asked for.
template <class What>
What& kept_at(xacc_site& site) {
  if (!site.kept) {
    auto made = std::make_shared<What>();
    site.kept = made.get();
    Runtime::get().kept.push_back(std::move(made));
  }
  return *static_cast<What*>(site.kept);
}

// Whether a directive does nothing but what it has set up: no rank still reads coarrays, and nothing is checked.
inline bool is_plain() { return !Runtime::get().has_coarrays() && !Runtime::get().checks(); }

// Nodes that a directive named. Those that execute are known where all ranks do, outside of tasks.
class NamedNodes {
 public:
  NamedNodes() = default;
  explicit NamedNodes(const xacc_on& on)
      : on_(on), nodes_(on.nodes ? *on.nodes : xacc_nodes{}), known_(on.nodes || !Runtime::get().in_task()) {}

  // Whether these are named again, and mean the same ranks.
  bool are(const xacc_on& on) const {
    if (!known_ || on.nodes != on_.nodes) return false;
    if (!on.nodes) return !Runtime::get().in_task();
    bool same = on.nodes->dims == nodes_.dims && on.nodes->first == nodes_.first;
    for (int d = 0; same && d < nodes_.dims; ++d)
      same = on.base[d] == on_.base[d] && on.count[d] == on_.count[d] && on.step[d] == on_.step[d] &&
             on.nodes->size[d] == nodes_.size[d] && on.nodes->ranks[d] == nodes_.ranks[d];
    return same;
  }

 private:
  xacc_on on_{};
  xacc_nodes nodes_{};  // as they were: those of a function may go, and others be in their place
  bool known_ = false;
};

}  // namespace tca::xacc
