// Who answers what is in a ring.
#pragma once

#include <cstdint>
#include <memory>

#include "trigger/ring.hpp"

namespace tca::trigger {

// When events that wait are worked on: all that are there, once they are as many, or once the first has waited so long.
struct Gather {
  std::uint32_t events = 1;
  double us = 50;
};

class Answerer {
 public:
  virtual ~Answerer() = default;

  // Called over and over, whether or not something new is in the ring; `is_last` when nothing more will come, so that
  // there is nothing to gather for. Returns how many slots have been answered since the beginning.
  virtual std::uint64_t advance(SlotRing& ring, bool is_last) = 0;
};

// Answers in the calling thread.
std::unique_ptr<Answerer> host_answerer(const Gather& gather, float resolution);

// Says, call by call, when what waits is to be worked on.
class Gathering {
 public:
  explicit Gathering(const Gather& gather) : gather_(gather) {}

  // With so many slots taken on so far, and so many events in these. The time counts from the first call that finds
  // something.
  bool is_due(const SlotRing& ring, std::uint64_t slots, std::uint64_t events, bool is_last) {
    if (ring.filled() == slots) return false;
    const std::uint64_t now = device::now_ns();
    if (since_ns_ == 0) since_ns_ = now;
    const bool is_due = is_last || ring.events() - events >= gather_.events ||
                        static_cast<double>(now - since_ns_) >= 1000 * gather_.us;
    if (is_due) since_ns_ = 0;
    return is_due;
  }

 private:
  Gather gather_;
  std::uint64_t since_ns_ = 0;
};

}  // namespace tca::trigger
