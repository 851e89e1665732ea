// When the messages of a timed chain have come, as its programs tell the chain.
#pragma once

#include <cstdint>

namespace tca::fabric {

// A message that one rank has sent in a step, in nanoseconds of one clock.
struct Arrival {
  int from = 0;
  std::uint32_t step = 0;
  std::int64_t sender_started = 0, started = 0;  // when either rank began the step
  std::int64_t looked = 0;                       // when this rank first looked for what comes
  std::int64_t seen = 0;                         // when it has seen that all is in its place
  bool there_at_once = false;                    // the first look has found it
  bool is_of_host = true;                        // the clock is the host's, which traces have
};

class Arrivals {
 public:
  virtual ~Arrivals() = default;

  // Called within Program::test, for every message to this rank before it says that the step is over; or within
  // Program::tell_of_arrivals.
  virtual void add(const Arrival& arrival) = 0;

  // Messages that have come without times.
  virtual void add_untimed(int from, std::uint64_t messages) = 0;
};

}  // namespace tca::fabric
