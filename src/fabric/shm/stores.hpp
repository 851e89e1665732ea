// How a rank stores what crosses to another core, and how it finds out.
//
// Which way is fastest depends on how far the other core is and on the processor, and neither has a name that says so: between near
// cores streamed stores take twice as long as ordinary ones, between far ones a third. An operating system may also move a rank,
// and a hypervisor a core. So once in a while the ways that a link has take turns for a few sends, and the fastest is kept until the
// next time. The sender's time decides for both sides: its stores are slow where lines come from a far cache, and so are the
// reader's loads then.
#pragma once

#include <algorithm>
#include <array>
#include <cstdint>
#include <initializer_list>
#include <limits>

namespace tca::shm {

enum class Stores : std::uint8_t {
  ordinary,
  long_moves,  // into a ring: rows, after they were gathered
  streamed,    // past the caches (base/stream.hpp); short runs into a ring, after they were gathered
};

class StoreTrial {
 public:
  StoreTrial() : StoreTrial({Stores::ordinary}) {}

  // One of these, the first until it is known better.
  StoreTrial(std::initializer_list<Stores> ways) : count_(static_cast<std::uint8_t>(ways.size())) {
    std::copy(ways.begin(), ways.end(), ways_.begin());
    forget();
  }

  // Of the send to come.
  Stores way() const { return ways_[is_timed() ? send_ / tries : best_]; }
  bool is_timed() const { return count_ > 1 && send_ < tries * count_; }

  // The send is over. `ticks` of any clock, until its stores were done, if it was timed.
  void sent(std::uint64_t ticks) {
    if (count_ == 1) return;
    if (is_timed()) {
      std::uint32_t& least = ticks_[send_ / tries];
      least = static_cast<std::uint32_t>(std::min<std::uint64_t>(least, ticks));
    }
    ++send_;
    if (send_ == tries * count_) decide();
    if (send_ >= period_) {
      send_ = 0;
      forget();
    }
  }

 private:
  // The quickest counts, since anything may come between. In the long run six slow sends in 512 are lost on it.
  static constexpr std::uint16_t tries = 3, first_period = 32, last_period = 512, warm_up = 4;

  void forget() { ticks_.fill(std::numeric_limits<std::uint32_t>::max()); }

  void decide() {
    const auto cost = [this](std::uint8_t i) {
      // Their reader begins with memory, so they must be clearly faster.
      return ways_[i] == Stores::streamed ? 1.25 * ticks_[i] : 1.0 * ticks_[i];
    };
    std::uint8_t best = 0;
    for (std::uint8_t i = 1; i < count_; ++i)
      if (cost(i) < cost(best)) best = i;
    // What has just changed may do so again.
    period_ = best != best_ ? first_period : std::min<std::uint16_t>(2 * period_, last_period);
    best_ = best;
  }

  std::array<std::uint32_t, 3> ticks_;  // by way: of the quickest send
  std::uint16_t period_ = first_period, send_ = first_period - warm_up;
  std::array<Stores, 3> ways_{};
  std::uint8_t count_, best_ = 0;
};

}  // namespace tca::shm
