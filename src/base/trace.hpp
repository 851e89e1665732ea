// What a rank did when, for a picture of it: spans in memory, written as Chrome trace events.
#pragma once

#include <chrono>
#include <mutex>
#include <string>
#include <vector>

#include "base/codec.hpp"

namespace tca::base {

class Trace {
 public:
  // Microseconds of a clock that all ranks of a host share.
  static double now_us() {
    return std::chrono::duration<double, std::micro>(std::chrono::steady_clock::now().time_since_epoch())
        .count();
  }

  // For any thread: a rank's messages may be carried by another than its own.
  void span(std::string name, std::string detail, double begin_us, double end_us) {
    const std::lock_guard lock(mutex_);
    spans_.push_back({std::move(name), std::move(detail), begin_us, end_us});
  }

  Blob encode() const;

  // One JSON document with a lane for each rank, from every rank's encoded spans.
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
