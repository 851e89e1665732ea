// Those who make a collective call of a fabric together: all ranks of a world, or those of a group. Fabrics number
// ranks as the world does, while the control plane by which a group meets numbers its members anew.
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

// Returns the number by which a group of these ranks knows one of them; nothing where it is none of them.
inline std::optional<int> number_in(const std::vector<int>& ranks, int rank) {
  const auto found = std::ranges::find(ranks, rank);
  if (found == ranks.end()) return std::nullopt;
  return static_cast<int>(found - ranks.begin());
}

class Members {
 public:
  // All ranks of a world.
  explicit Members(Control& control) : control_(&control) {}
  // `ranks`: those of the world, by their number in `control`, by which they meet.
  Members(Control& control, std::shared_ptr<const std::vector<int>> ranks)
      : control_(&control), ranks_(std::move(ranks)) {}

  Control& control() const { return *control_; }
  int size() const { return control_->size(); }
  // Return the rank of the world that a member is, and this one.
  int operator[](int member) const {
    return ranks_ == nullptr ? member : (*ranks_)[static_cast<std::size_t>(member)];
  }
  int rank() const { return (*this)[control_->rank()]; }
  // Returns those of all members.
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
