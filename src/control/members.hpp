// The ranks that make a fabric's collective call together: all ranks of a world, or those of a group.
// Fabrics number ranks as the world does; the control plane through which a group meets renumbers them.
#pragma once

#include <algorithm>
#include <cstddef>
#include <memory>
#include <numeric>
#include <optional>
#include <utility>
#include <vector>

#include "control/control.hpp"

namespace tca::control {

// Returns a rank's number in a group of these ranks; nothing if it is not one of them.
inline std::optional<int> number_in(const std::vector<int>& ranks, int rank) {
  const auto found = std::ranges::find(ranks, rank);
  if (found == ranks.end()) return std::nullopt;
  return static_cast<int>(found - ranks.begin());
}

class Members {
 public:
  // All ranks of a world.
  explicit Members(Control& control) : control_(&control) {}
  // `ranks`: those of the world, by their number in `control`, through which they meet.
  Members(Control& control, std::shared_ptr<const std::vector<int>> ranks)
      : control_(&control), ranks_(std::move(ranks)) {}

  Control& control() const { return *control_; }
  int size() const { return control_->size(); }
  // Return the world rank of a member, and of this rank.
  int operator[](int member) const {
    return ranks_ == nullptr ? member : (*ranks_)[static_cast<std::size_t>(member)];
  }
  int rank() const { return (*this)[control_->rank()]; }
  // Returns the world ranks of all members.
  std::vector<int> ranks() const {
    if (ranks_ != nullptr) return *ranks_;
    std::vector<int> all(static_cast<std::size_t>(size()));
    std::iota(all.begin(), all.end(), 0);
    return all;
  }

 private:
  Control* control_;
  std::shared_ptr<const std::vector<int>> ranks_;  // null: all
};

}  // namespace tca::control
