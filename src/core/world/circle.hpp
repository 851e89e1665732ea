// A circle: ranks that commit chains together. All ranks of a world form one; other circles consist of
// ranks connected as partners, directly or through others, when they commit a chain among themselves. Each
// has its own numbers, meetings and Reclaimer, and other ranks know nothing of it.
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
  // All ranks of a world. `members` are those of a group, as the outermost world numbers them; null for the
  // outermost world itself.
  Circle(control::Control& control, std::shared_ptr<const std::vector<int>> members)
      : control_(control), members_(control, std::move(members)) {}
  // `ranks` are ranks of the world, in ascending order. `members` are the same ranks as the outermost world
  // numbers them; `world` distinguishes worlds in which the same ranks may be circles.
  Circle(control::Control& root, std::vector<int> ranks, const std::vector<int>& members, std::uint64_t world)
      : ranks_(std::move(ranks)),
        own_control_(std::make_unique<control::GroupControl>(root, members, world, ranks_)),
        control_(*own_control_),
        members_(control_, std::make_shared<const std::vector<int>>(members)) {}

  control::Control& control() const { return control_; }
  const control::Members& members() const { return members_; }
  Reclaimer& reclaimer() { return reclaimer_; }
  // Return the next object's number, without and with taking it.
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

// Collective over the ranks of the circle that it returns, which is this rank's; each of them names its own
// partners.
Circle& find_circle(WorldState& world, const std::set<int>& partners, std::chrono::milliseconds time_limit,
                    std::string_view what);

}  // namespace tca::core
