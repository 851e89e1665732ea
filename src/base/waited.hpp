// How long something has been waited for, as whoever looks now and then adds it up.
#pragma once

#include <algorithm>
#include <chrono>

namespace tca::base {

// Of a time in which this process was stopped (Ctrl-Z, a job that a batch system suspends) little counts: no more than
// `most_at_once` between two looks.
class Waited {
 public:
  using Clock = std::chrono::steady_clock;

  explicit Waited(std::chrono::nanoseconds most_at_once) : most_at_once_(most_at_once) {}

  // The first one begins.
  void look() {
    const Clock::time_point now = Clock::now();
    if (last_ != Clock::time_point{})
      so_far_ += std::min<std::chrono::nanoseconds>(now - last_, most_at_once_);
    last_ = now;
  }

  std::chrono::nanoseconds so_far() const { return so_far_; }

 private:
  std::chrono::nanoseconds most_at_once_;
  Clock::time_point last_{};
  std::chrono::nanoseconds so_far_{0};
};

}  // namespace tca::base
