// A way of iterating, which `measure` times: with OpenTCA or a peer, on the host or on GPUs.
#pragma once

#include <cstdint>
#include <functional>
#include <vector>

namespace tca::himeno {

// The time of an iteration on this rank by phases, in microseconds.
struct Phases {
  double compute_us = 0;
  double start_us = 0;
  double wait_us = 0;
  double reduce_us = 0;
  // Whole iteration on a GPU, where the host cannot tell the phases apart.
  double device_us = 0;

  double total_us() const { return compute_us + start_us + wait_us + reduce_us + device_us; }
};

class Way {
 public:
  using Tick = std::function<void(std::int64_t iterations)>;

  virtual ~Way() = default;

  // Collective. Does this many iterations and returns samples of their times, each of a single iteration or
  // an average over many, and on every rank of the same ones. Now and then it calls `tick`, if there is one,
  // with the number done since the last call.
  virtual std::vector<Phases> run(std::int64_t iterations, const Tick& tick = {}) = 0;

  // Returns how many iterations are enough to show how long one takes.
  virtual std::int64_t rehearsal() const = 0;

  // Returns the bytes of this rank's puts or messages in one iteration.
  virtual std::int64_t bytes() const = 0;
};

}  // namespace tca::himeno
