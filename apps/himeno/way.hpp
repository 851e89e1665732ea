// A way of iterating: what `measure` puts under the clock, be it OpenTCA's or a peer's, on the host or on GPUs.
#pragma once

#include <cstdint>
#include <functional>
#include <vector>

namespace tca::himeno {

// Where an iteration's time went on this rank, in microseconds.
struct Phases {
  double compute_us = 0;
  double start_us = 0;
  double wait_us = 0;
  double reduce_us = 0;
  double device_us = 0;  // on a GPU, where the host cannot tell the others apart

  double exchange_us() const { return start_us + wait_us; }
  double total_us() const { return compute_us + start_us + wait_us + reduce_us + device_us; }
};

class Way {
 public:
  using Tick = std::function<void(std::int64_t iterations)>;

  virtual ~Way() = default;

  // Collective. Does so many iterations and returns samples of their times, of single iterations or of averages over many.
  // Now and then tells `tick`, when there is one, how many it has done since the last time.
  virtual std::vector<Phases> run(std::int64_t iterations, const Tick& tick = {}) = 0;

  // So many iterations show how long one takes.
  virtual std::int64_t rehearsal() const = 0;

  // This rank's puts or messages of one iteration.
  virtual std::int64_t bytes() const = 0;
};

}  // namespace tca::himeno
