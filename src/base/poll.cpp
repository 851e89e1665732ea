#include "base/poll.hpp"

#include <sched.h>

#include <algorithm>
#include <thread>

namespace tca::base {

namespace {

using namespace std::chrono_literals;

constexpr auto yield_for = 2ms;  // then sleep: the partner is computing, not communicating
constexpr std::uint32_t yields_per_clock = 16;
constexpr auto look_after = 200us;  // a look for dead partners costs a system call or more for each of them

}  // namespace

bool Poll::give_way(Look look) {
  if (waited_ < yield_for || look.moves) {
    if (!look.given_way) sched_yield();
    if (++yields_ % yields_per_clock != 1) return false;
  } else {
    std::this_thread::sleep_for(std::clamp<std::chrono::nanoseconds>(waited_ / 16, 50us, 2ms));
  }
  const Clock::time_point now = Clock::now();
  if (since_ == Clock::time_point{}) since_ = now;
  waited_ = now - since_;
  return waited_ >= look_after;
}

}  // namespace tca::base
