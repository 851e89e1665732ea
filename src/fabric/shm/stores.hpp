// How a rank stores what crosses to another core, and how it finds out.
//
// Which way is fastest depends on how far the other core is and on the processor, and neither has a name that says so: between near
// cores stores past the caches take twice as long as ordinary ones, between far ones a third. An operating system may also move a
// rank, and a hypervisor a core. So once in a while the ways that a link has take turns for a few sends, and the fastest is kept
// until the next time.
//
// What counts is the time from one send to the next. It has the partner's reading in it, for whom the sender then waits, and the
// application's; where that computes so long that ways make no difference, none is needed.
#pragma once

#include <algorithm>
#include <array>
#include <cstdint>
#include <limits>
#include <span>

namespace tca::shm {

enum class Stores : std::uint8_t {
  ordinary,
  long_moves,   // into a ring: rows, after they were gathered
  nontemporal,  // past the caches (base/nontemporal.hpp); short runs into a ring, after they were gathered
};

inline constexpr std::size_t all_stores = 3;

class StoreTrial {
 public:
  StoreTrial() = default;

  // Between some of these, each once, of which the first is taken until there has been a trial.
  explicit StoreTrial(std::span<const Stores> ways) : count_(static_cast<std::uint8_t>(ways.size())) {
    std::copy(ways.begin(), ways.end(), ways_.begin());
    forget();
  }

  // How to store in the send that begins now. `now` reads a clock, in any unit; it is called in few sends.
  template <class Clock>
  Stores next(Clock now) {
    const auto window = static_cast<std::uint16_t>(tries * count_);
    if (send_ <= window) {
      const std::uint64_t time = now();
      if (send_ > 0) note((send_ - 1) / tries, (send_ - 1) % tries, time - began_);
      began_ = time;
      if (send_ == window) decide();
    }
    const Stores way = ways_[static_cast<std::size_t>(send_ < window ? send_ / tries : best_)];
    if (++send_ >= period_) {
      send_ = 0;
      forget();
    }
    return way;
  }

 private:
  // The first two of a way find the lines of a ring's two buffers as another way has left them. Of the others the quickest
  // counts, since anything may come between. In the long run up to five slow sends in 512 are lost on it.
  static constexpr std::uint16_t settling = 2, tries = 5, first_period = 32, last_period = 512, warm_up = 4;

  // A way that takes twice as long as another has no more tries, unless it is the present one, which may just have been hindered.
  void note(int way, int nth, std::uint64_t took) {
    const std::uint64_t shortest = *std::min_element(took_.begin(), took_.end());
    if (nth >= settling) {
      std::uint32_t& least = took_[static_cast<std::size_t>(way)];
      least = static_cast<std::uint32_t>(std::min<std::uint64_t>(least, took));
    }
    if (way != best_ && took > 2 * shortest) send_ = static_cast<std::uint16_t>(tries * (way + 1));
  }
  void forget() { took_.fill(std::numeric_limits<std::uint32_t>::max()); }

  // What is as good as the present way is not worth a change; what has just changed may do so again.
  void decide() {
    std::uint8_t best = best_;
    for (std::uint8_t i = 0; i < count_; ++i)
      if (took_[i] < 0.97 * took_[best]) best = i;
    period_ = best != best_ ? first_period : std::min<std::uint16_t>(2 * period_, last_period);
    best_ = best;
  }

  std::uint64_t began_ = 0;                       // the send before, in a trial
  std::array<std::uint32_t, all_stores> took_{};  // by way: the quickest send
  std::uint16_t period_ = first_period, send_ = first_period - warm_up;
  std::array<Stores, all_stores> ways_{};
  std::uint8_t count_ = 0, best_ = 0;
};

}  // namespace tca::shm
