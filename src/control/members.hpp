// Those who make a collective call of a fabric together: all ranks of a world, or those of a group. Fabrics number
// ranks as the world does, while the control plane by which a group meets numbers its members anew.
#pragma once

#include <cstddef>
#include <numeric>
#include <utility>
#include <vector>

#include "control/control.hpp"

namespace tca::control {

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
