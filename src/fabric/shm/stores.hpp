// How a rank stores what crosses to another core, and how it finds out.
//
// Which way is fastest depends on how far the other core is and on the processor, and neither has a name that says so: between near
// cores stores past the caches take twice as long as ordinary ones, between far ones a third. An operating system may also move a
// rank, and a hypervisor a core. So once in a while the ways that a link has take turns for a few sends, and the fastest is kept
// until the next time. The sender's time decides for both sides: its stores are slow where lines come from a far cache, and so are
// the reader's loads then.
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

  // Between some of these, of which the first is taken until there has been a trial.
  explicit StoreTrial(std::span<const Stores> ways) : count_(static_cast<std::uint8_t>(ways.size())) {
    std::copy_n(ways.begin(), std::min(ways.size(), all_stores), ways_.begin());
    forget();
  }

  // Of the send to come.
  Stores way() const { return ways_[is_trying() ? send_ / tries : best_]; }
  bool is_timed() const { return is_trying() && send_ % tries >= settling; }

  // The send is over. `ticks` of any clock, until its stores were done, if it was timed.
  void record(std::uint64_t ticks) {
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
  // The first two of a way find the lines of a ring's two buffers as another way has left them. Of the others the quickest
  // counts, since anything may come between. In the long run five slow sends in 512 are lost on it.
  static constexpr std::uint16_t settling = 2, tries = 5, first_period = 32, last_period = 512, warm_up = 4;

  bool is_trying() const { return send_ < tries * count_; }
  void forget() { ticks_.fill(std::numeric_limits<std::uint32_t>::max()); }

  void decide() {
    // Readers of what went past the caches begin with memory, so that it must be clearly faster.
    const auto cost = [this](std::uint8_t i) {
      return (ways_[i] == Stores::nontemporal ? 1.25 : 1.0) * ticks_[i];
    };
    std::uint8_t best = best_;
    for (std::uint8_t i = 0; i < count_; ++i)
      if (cost(i) < 0.95 * cost(best)) best = i;
    // What has just changed may do so again; what is as good as the present way is not worth a change.
    period_ = best != best_ ? first_period : std::min<std::uint16_t>(2 * period_, last_period);
    best_ = best;
  }

  std::array<std::uint32_t, all_stores> ticks_{};  // by way: of the quickest send
  std::uint16_t period_ = first_period, send_ = first_period - warm_up;
  std::array<Stores, all_stores> ways_{};
  std::uint8_t count_ = 0, best_ = 0;
};

}  // namespace tca::shm
