// Measures how long a rank has waited, from the looks that it takes now and then.
#pragma once

#include <algorithm>
#include <chrono>
#include <cstdint>

namespace tca::base {

// Sums the time between looks at the clock, counting no more than `most_at_once` between two of them. So
// time in which the process was stopped (Ctrl-Z, a job suspended by the batch system) hardly counts.
class Waited {
 public:
  using Clock = std::chrono::steady_clock;

  explicit Waited(std::chrono::nanoseconds most_at_once) : most_at_once_(most_at_once) {}

  // The first look starts the measurement.
  void look() {
    const Clock::time_point now = Clock::now();
    if (last_ != Clock::time_point{})
      so_far_ += std::min<std::chrono::nanoseconds>(now - last_, most_at_once_);
    last_ = now;
  }

  void add(std::chrono::nanoseconds more) { so_far_ += more; }

  std::chrono::nanoseconds so_far() const { return so_far_; }

 private:
  std::chrono::nanoseconds most_at_once_;
  Clock::time_point last_{};
  std::chrono::nanoseconds so_far_{0};
};

// Measures how long a program has waited in its own loop around a test that never blocks. A loop that
// computes between two tests is not waiting, so only a little of that time counts.
class TestLoop {
 public:
  TestLoop() = default;

  // The caller calls this when a test has found step `step` unfinished. Returns whether it is time to check
  // that the awaited ranks are still alive. Most tests do not even look at the clock.
  bool go_round(std::uint32_t step) {
    constexpr std::uint32_t tests_per_clock = 16;
    if (step != step_) *this = TestLoop(step);
    if (++tests_ % tests_per_clock != 0) return false;
    const auto before = checks();
    waited_.look();
    return checks() != before;
  }

  // Counts a wait for step `step` that was not a test and returned before the step had finished. Returns
  // the same as `go_round`.
  bool add(std::uint32_t step, std::chrono::nanoseconds waited) {
    if (step != step_) *this = TestLoop(step);
    const auto before = checks();
    waited_.add(waited);
    return checks() != before;
  }

  std::chrono::nanoseconds so_far() const { return waited_.so_far(); }
  std::chrono::nanoseconds so_far(std::uint32_t step) const {
    return step == step_ ? so_far() : std::chrono::nanoseconds(0);
  }

 private:
  explicit TestLoop(std::uint32_t step) : step_(step) {}

  // How many checks are due so far.
  std::int64_t checks() const { return so_far() / std::chrono::milliseconds(50); }

  Waited waited_{std::chrono::milliseconds(1)};
  std::uint32_t step_ = 0, tests_ = 0;
};

}  // namespace tca::base
