// A rank's waits that belong to no chain.
#pragma once

#include <chrono>
#include <functional>
#include <string_view>

#include "control/control.hpp"
#include "core/world/world_state.hpp"

namespace tca::core {

inline constexpr std::chrono::nanoseconds no_limit = std::chrono::nanoseconds::max();

// How long a wait may take, and how long the program has already waited for the same thing in calls that
// returned: the world's time limit covers them all together.
struct Patience {
  std::chrono::nanoseconds at_most = no_limit;
  std::chrono::nanoseconds already{0};
};

// Waits until `is_done` returns true, and returns whether it did so in time. Meanwhile drives what this
// rank owes in its chains. Throws Error{rank_lost} if one of the ranks that `wait` misses is lost, and
// Error{timed_out} when the world's time limit has passed; `what_to_do` ends that message.
bool wait_until(WorldState& world, const control::Wait& wait, Patience patience, std::string_view what_to_do,
                const std::function<bool()>& is_done);

// Throws Error{rank_lost} if one of the ranks that `wait` misses is lost, unless `is_done` holds after all.
void check_missing(WorldState& world, const control::Wait& wait, const std::function<bool()>& is_done);

}  // namespace tca::core
