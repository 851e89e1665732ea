// A circle: ranks that commit chains together. All ranks of a world are one; others are of the ranks that partners join,
// directly or through others, when they commit a chain among themselves. Each has numbers, meetings and a Reclaimer of its
// own, and other ranks know nothing of it.
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
  // All ranks of a world. `members`: those of a group, as the outermost world numbers them; null for that one.
  Circle(control::Control& control, std::shared_ptr<const std::vector<int>> members)
      : control_(control), members_(control, std::move(members)) {}
  // `ranks` are those of the world, in rising order. `members` has the same as the outermost world numbers them; `world`
  // tells apart worlds in which the same ranks may be circles.
  Circle(control::Control& root, std::vector<int> ranks, const std::vector<int>& members, std::uint64_t world)
      : ranks_(std::move(ranks)),
        own_control_(std::make_unique<control::GroupControl>(root, members, world, ranks_)),
        control_(*own_control_),
        members_(control_, std::make_shared<const std::vector<int>>(members)) {}

  control::Control& control() const { return control_; }
  const control::Members& members() const { return members_; }
  Reclaimer& reclaimer() { return reclaimer_; }
  // Return the number of the next object, and take it.
  std::uint32_t coming_id() const { return next_id_; }
  std::uint32_t next_id() { return next_id_++; }

  int rank_of(int member) const { return ranks_.empty() ? member : ranks_[static_cast<std::size_t>(member)]; }
  int member_of(int rank) const { return ranks_.empty() ? rank : control::number_in(ranks_, rank).value(); }

 private:
  std::vector<int> ranks_;                              // empty: all
  std::unique_ptr<control::GroupControl> own_control_;  // null: the world's
  control::Control& control_;
  control::Members members_;
  Reclaimer reclaimer_{control_};
  std::uint32_t next_id_ = 0;
};

// Collective over the ranks of the circle that it returns, each of which names its own partners: this rank's circle.
Circle& find_circle(WorldState& world, const std::set<int>& partners, std::chrono::milliseconds time_limit,
                    std::string_view what);

}  // namespace tca::core
