// When the messages of a timed chain arrived, as its programs report to the chain.
#pragma once

#include <cstdint>

namespace tca::fabric {

// A message that one rank has sent in a step, with times in nanoseconds on one clock.
struct Arrival {
  int from = 0;
  std::uint32_t step = 0;
  std::int64_t sender_started = 0, started = 0;  // when each rank began the step
  std::int64_t looked = 0;                       // when this rank first looked for arrivals
  std::int64_t seen = 0;                         // when it saw that everything was in place
  bool there_at_once = false;                    // it had arrived by the first look
  bool is_of_host = true;                        // the clock is the host's, which traces use
};

class Arrivals {
 public:
  virtual ~Arrivals() = default;

  // Called within Program::test, for every message to this rank, before it reports the step as over; or
  // within Program::tell_of_arrivals.
  virtual void add(const Arrival& arrival) = 0;

  // Messages that have arrived without times.
  virtual void add_untimed(int from, std::uint64_t messages) = 0;
};

}  // namespace tca::fabric
