// A circle: the ranks that partners join, directly or through others, when they commit a chain among themselves. It has
// numbers, meetings and a Reclaimer of its own; the other ranks of the world know nothing of it.
#pragma once

#include <chrono>
#include <cstdint>
#include <memory>
#include <set>
#include <string_view>
#include <utility>
#include <vector>

#include "control/group_control.hpp"
#include "control/members.hpp"
#include "core/world/reclaim.hpp"

namespace tca::core {

class WorldState;

class Circle {
 public:
  // `ranks` are those of the world, in rising order. `members` has the same as the outermost world numbers them; `world`
  // tells apart worlds in which the same ranks may be circles.
  Circle(control::Control& root, std::vector<int> ranks, const std::vector<int>& members, std::uint64_t world)
      : ranks_(std::move(ranks)),
        control_(root, members, world, ranks_),
        members_(control_, std::make_shared<const std::vector<int>>(members)) {}

  control::Control& control() { return control_; }
  const control::Members& members() const { return members_; }
  Reclaimer& reclaimer() { return reclaimer_; }
  std::uint32_t next_id() { return next_id_++; }

  int rank_of(int member) const { return ranks_[static_cast<std::size_t>(member)]; }
  int member_of(int rank) const { return control::number_in(ranks_, rank).value(); }

 private:
  std::vector<int> ranks_;
  control::GroupControl control_;
  control::Members members_;
  Reclaimer reclaimer_{control_};
  std::uint32_t next_id_ = 0;
};

// Collective over the ranks of the circle that it returns, each of which names its own partners: this rank's circle.
Circle& find_circle(WorldState& world, const std::set<int>& partners, std::chrono::milliseconds time_limit,
                    std::string_view what);

}  // namespace tca::core
