// How to wait for another rank's store: spin while it is likely to be under way, then give the core away,
// then sleep.
//
// There is no wake-up call, so the storing side never makes a system call. The price is at most a sixteenth
// of the time already waited. Where looks themselves move what is waited for, nobody sleeps for the first second.
#pragma once

#include <chrono>
#include <cstdint>

#include "base/waited.hpp"

namespace tca::base {

// With more ranks than cores whoever spins keeps the one it waits for from running.
enum class Cores { enough, crowded };

class Poll {
 public:
  explicit Poll(Cores cores) : spins_left_(cores == Cores::enough ? 4000u : 8u) {}

  // What is known of a look that found nothing.
  struct Look {
    // It has given the core away itself; a second time without a look in between would cost a turn.
    bool given_way = false;
    bool moves = false;  // what is waited for, or something else, moves on with looks alone
  };

  // Call after each look that found nothing. True when enough time has passed that the caller should look for dead partners
  // and at the clock: never while spinning.
  bool pause(Look look) {
    if (spins_left_ > 0) {
      --spins_left_;
      return false;
    }
    return give_way(look);
  }
  bool pause() { return pause(Look{}); }

  // Past the spinning: this rank has time for other work.
  bool gave_way() const { return spins_left_ == 0; }

  // Since the first look at the clock, which comes after the spinning; see Waited.
  std::chrono::nanoseconds waited() const { return waited_.so_far(); }

 private:
  bool give_way(Look look);

  std::uint32_t spins_left_;
  std::uint32_t yields_ = 0;
  Waited waited_{std::chrono::seconds(1)};  // a look may include work for others
};

}  // namespace tca::base
