// The ways in which a rank stores what crosses to another core, and the trial that finds the fastest.
//
// Which way is fastest depends on the processor and on how far away the other core is, and neither's name
// tells which it is: between near cores, stores that bypass the caches take twice as long as ordinary ones;
// between far cores, a third. An operating system may also move a rank, and a hypervisor a core. So once in
// a while the ways of a link take turns for a few sends, and the fastest is kept until the next trial.
//
// A trial measures the time from one send to the next. That includes the time in which the partner reads,
// for which the sender then waits, and the application's own time. If the application computes for so long
// that the ways make no difference, it does not matter which is chosen.
#pragma once

#include <algorithm>
#include <array>
#include <cstdint>
#include <limits>
#include <span>

namespace tca::shm {

enum class StoreMode : std::uint8_t {
  ordinary,
  bulk_copy,    // into a ring: rows are gathered first
  nontemporal,  // bypassing the caches (base/nontemporal.hpp); into a ring, short runs are gathered first
};

inline constexpr std::size_t store_modes = 3;

class StoreModeTuner {
 public:
  StoreModeTuner() = default;

  // A trial between `ways`, each of which appears once. The first is used until there has been a trial.
  explicit StoreModeTuner(std::span<const StoreMode> ways) : count_(static_cast<std::uint8_t>(ways.size())) {
    std::copy(ways.begin(), ways.end(), ways_.begin());
    forget();
  }

  // Returns how to store in the send that is about to begin. `now` reads a clock, in any unit; few sends
  // call it.
  template <class Clock>
  StoreMode next(Clock now) {
    const auto window = static_cast<std::uint16_t>(tries * count_);
    if (send_ <= window) {
      const std::uint64_t time = now();
      if (send_ > 0) note((send_ - 1) / tries, (send_ - 1) % tries, time - began_);
      began_ = time;
      if (send_ == window) decide();
    }
    const StoreMode way = ways_[static_cast<std::size_t>(send_ < window ? send_ / tries : best_)];
    if (++send_ >= period_) {
      send_ = 0;
      forget();
    }
    return way;
  }

 private:
  // The first two sends of a way find the lines of a ring's two buffers as another way has left them, so
  // they do not count. Of the others the quickest counts, since anything may delay a send. In the long run
  // a trial costs up to five slow sends in 512.
  static constexpr std::uint16_t settling = 2, tries = 5, first_period = 32, last_period = 512, warm_up = 4;

  // Notes how long a send took. A way that takes twice as long as another gets no more tries, unless it is
  // the current one, which may only have been held up.
  void note(int way, int nth, std::uint64_t took) {
    const std::uint64_t shortest = *std::min_element(took_.begin(), took_.end());
    if (nth >= settling) {
      std::uint32_t& least = took_[static_cast<std::size_t>(way)];
      least = static_cast<std::uint32_t>(std::min<std::uint64_t>(least, took));
    }
    if (way != best_ && took > 2 * shortest) send_ = static_cast<std::uint16_t>(tries * (way + 1));
  }
  void forget() { took_.fill(std::numeric_limits<std::uint32_t>::max()); }

  // A way that is no better than the current one is not worth a change. After a change the next trial is
  // soon, since the conditions may change again.
  void decide() {
    std::uint8_t best = best_;
    for (std::uint8_t i = 0; i < count_; ++i)
      if (took_[i] < 0.97 * took_[best]) best = i;
    period_ = best != best_ ? first_period : std::min<std::uint16_t>(2 * period_, last_period);
    best_ = best;
  }

  std::uint64_t began_ = 0;                        // when the previous send began, in a trial
  std::array<std::uint32_t, store_modes> took_{};  // the time of the quickest send, by way
  std::uint16_t period_ = first_period, send_ = first_period - warm_up;
  std::array<StoreMode, store_modes> ways_{};
  std::uint8_t count_ = 0, best_ = 0;
};

}  // namespace tca::shm
