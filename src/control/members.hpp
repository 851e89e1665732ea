// Those who make a collective call of a fabric together: all ranks of a world, or those of a group. Fabrics number
// ranks as the world does, while the control plane by which a group meets numbers its members anew.
#pragma once

#include <algorithm>
#include <cstddef>
#include <numeric>
#include <optional>
#include <utility>
#include <vector>

#include "control/control.hpp"

namespace tca::control {

// Returns the number by which a group of these ranks knows one of them; nothing where it is none of them.
inline std::optional<int> number_in(const std::vector<int>& ranks, int rank) {
  const auto found = std::ranges::find(ranks, rank);
  if (found == ranks.end()) return std::nullopt;
  return static_cast<int>(found - ranks.begin());
}

class Members {
 public:
  // All ranks of a world.
  explicit Members(Control& control) : control_(&control), ranks_(static_cast<std::size_t>(control.size())) {
    std::iota(ranks_.begin(), ranks_.end(), 0);
  }
  // `ranks`: those of the world, by their number in `control`, by which they meet.
  Members(Control& control, std::vector<int> ranks) : control_(&control), ranks_(std::move(ranks)) {}

  Control& control() const { return *control_; }
  // Return the ranks of the world that the members are, and this one.
  const std::vector<int>& ranks() const { return ranks_; }
  int rank() const { return ranks_[static_cast<std::size_t>(control_->rank())]; }

 private:
  Control* control_;
  std::vector<int> ranks_;
};

}  // namespace tca::control
