#include "base/poll.hpp"

#include <sched.h>

#include <algorithm>
#include <thread>

namespace tca::base {

namespace {

using namespace std::chrono_literals;

constexpr auto yield_for = 2ms;  // then sleep: the partner is computing, not communicating
// After this time a computing partner is likelier than a transfer that is still under way, and such a
// transfer also advances between naps.
constexpr std::chrono::milliseconds yield_while_moving = 1s;
constexpr std::chrono::microseconds nap = 50us, longest_nap = 2ms;
constexpr std::uint32_t yields_per_clock = 16;
constexpr auto look_after = 200us;  // looking for dead partners costs one or more system calls per partner

}  // namespace

bool Poll::yield(Look look) {
  if (waited() < (look.moves ? yield_while_moving : yield_for)) {
    if (!look.yielded) sched_yield();
    if (++yields_ % yields_per_clock != 1) return false;
  } else {
    std::this_thread::sleep_for(
        look.moves ? nap : std::clamp<std::chrono::nanoseconds>(waited() / 16, nap, longest_nap));
  }
  waited_.look();
  return waited() >= look_after;
}

}  // namespace tca::base
