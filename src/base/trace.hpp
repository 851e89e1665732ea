// A Trace records what a rank did and when: it keeps spans in memory and writes them as Chrome trace events.
#pragma once

#include <chrono>
#include <mutex>
#include <string>
#include <vector>

#include "base/codec.hpp"

namespace tca::base {

class Trace {
 public:
  // The time in microseconds, on a clock that all ranks of a host share.
  static double now_us() {
    return std::chrono::duration<double, std::micro>(std::chrono::steady_clock::now().time_since_epoch())
        .count();
  }

  // Any thread may call this, since a thread other than the rank's own may carry its messages.
  void span(std::string name, std::string detail, double begin_us, double end_us) {
    const std::lock_guard lock(mutex_);
    spans_.push_back({std::move(name), std::move(detail), begin_us, end_us});
  }

  Blob encode() const;

  // Returns one JSON document with a lane for each rank, from the encoded spans of all ranks.
  static std::string chrome_json(const std::vector<Blob>& ranks);

 private:
  struct Span {
    std::string name, detail;
    double begin_us, end_us;
  };
  mutable std::mutex mutex_;
  std::vector<Span> spans_;
};

}  // namespace tca::base
