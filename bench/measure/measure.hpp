// Runs contenders in turn and collects the times that each took.
#pragma once

#include <functional>
#include <memory>
#include <vector>

#include "contender.hpp"

namespace tca::bench {

// How much to measure. A sample is a run of calls that is long enough for the clock. One more call before it
// is not timed, since it finds memory as another contender has left it. A round takes one sample of every
// contender.
//
// Where the pages of an array lie in physical memory can double the time of a strided walk. So contenders are
// made anew, with new memory, for each placement, which lasts some rounds.
struct Effort {
  int placements = 7;
  int rounds = 9;  // for each placement
  double sample_us = 1000;
  // How often a sample is repeated when some rank had to leave its core to another thread meanwhile.
  int retries = 0;
};

// Microseconds per call, one value for each round.
using Samples = std::vector<double>;

// Returns, round by round, how much longer a step takes than the same step without its exchange.
Samples beyond(const Samples& step, const Samples& bare);

template <class Contender>
using Contenders = std::vector<std::unique_ptr<Contender>>;

// The result of a measurement: the contenders as last made, and the samples of each.
template <class Contender>
struct Outcome {
  Contenders<Contender> contenders;
  std::vector<Samples> samples;
};

// The functions below are collective. They make the contenders by `make` and return, alike on every rank, the
// time of the slowest rank for each sample. `progress` is called with the number of rounds done. In each step
// every contender writes what it sends anew and reads what arrives; both are in the time. They throw
// Error{refused}, on every rank, when in any step something else arrived than what was sent in it.

// Measures one-way times.
Outcome<PingPong> measure(World& world, const std::function<Contenders<PingPong>()>& make,
                          const Effort& effort, const std::function<void(int)>& progress);

// Measures the times of a step: rewrite both edges, exchange, read both ghosts.
Outcome<FaceExchange> measure(World& world, const std::function<Contenders<FaceExchange>()>& make,
                              const Face& face, const Effort& effort,
                              const std::function<void(int)>& progress);

// Measures the times of a step.
Outcome<Stepped> measure(
    World& world, const std::function<Contenders<Stepped>()>& make, const Effort& effort,
    const std::function<void(int)>& progress = [](int) {});

// Measures the time of one collective.
Outcome<Coll> measure(World& world, const std::function<Contenders<Coll>()>& make, const Effort& effort,
                      const std::function<void(int)>& progress);

}  // namespace tca::bench
