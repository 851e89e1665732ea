// Paces the wait for another rank's store: spin while the store is likely to be imminent, then yield the
// core, then sleep.
//
// Nobody wakes the waiting rank, so the storing side never makes a system call. In return the waiting rank
// notices the store late, by at most a sixteenth of the time already waited. If polling itself advances
// what is waited for, a rank does not sleep during the first second.
#pragma once

#include <chrono>
#include <cstdint>

#include "base/waited.hpp"

namespace tca::base {

// With more ranks than cores, a spinning rank may keep the rank that it waits for from running.
enum class Cores { enough, crowded };

class Poll {
 public:
  explicit Poll(Cores cores) : spins_left_(cores == Cores::enough ? 4000u : 8u) {}

  // What the caller knows about a look (a poll) that found nothing.
  struct Look {
    // The look itself has yielded the core. Yielding again without another look would waste a turn.
    bool yielded = false;
    bool moves = false;  // a transfer, awaited or not, advances only when the caller looks
  };

  // The caller calls this after each look that found nothing. Returns true if so much time has passed that
  // the caller should check the clock and look for dead partners. This never happens while spinning.
  bool pause(Look look) {
    if (spins_left_ > 0) {
      --spins_left_;
      return false;
    }
    return yield(look);
  }
  bool pause() { return pause(Look{}); }

  // Whether spinning is over, so that this rank has time for other work.
  bool has_yielded() const { return spins_left_ == 0; }

  // Returns the time since the first look at the clock, which is after the spinning; see Waited.
  std::chrono::nanoseconds waited() const { return waited_.so_far(); }

 private:
  bool yield(Look look);

  std::uint32_t spins_left_;
  std::uint32_t yields_ = 0;
  Waited waited_{std::chrono::seconds(1)};  // a look may include work for others
};

// How a wait ended.
struct Awaited {
  bool done;
  std::chrono::nanoseconds waited;

  explicit operator bool() const { return done; }
  double seconds() const { return std::chrono::duration<double>(waited).count(); }
};

// Waits during set-up, when there is nothing else to do meanwhile, until `done()` returns true, and asks it
// once more when the limit has passed.
template <class Done>
Awaited await(Done&& done, std::chrono::nanoseconds limit) {
  Poll poll(Cores::crowded);
  for (;;) {
    const bool is_last_look = poll.waited() >= limit;
    if (done()) return {true, poll.waited()};
    if (is_last_look) return {false, poll.waited()};
    poll.pause();
  }
}

}  // namespace tca::base
