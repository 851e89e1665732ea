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

template <class Contender>
using Contenders = std::vector<std::unique_ptr<Contender>>;

// The result of a measurement: the contenders as last made, and the samples of each.
template <class Contender>
struct Outcome {
  Contenders<Contender> contenders;
  std::vector<Samples> samples;
};

// The functions below are collective. They make the contenders by `make` and return the times that rank 0
// measured. `progress` is called with the number of rounds done.

// Measures one-way times. Throws Error{refused} when what a contender brings, before the first round or after
// the last, is not what was sent.
Outcome<PingPong> measure(World& world, const std::function<Contenders<PingPong>()>& make,
                          const Effort& effort, const std::function<void(int)>& progress);

// Measures the times of a step: rewrite both edges, exchange, read both ghosts. Throws Error{refused} when a
// contender's ghosts are not what the neighbours wrote.
Outcome<FaceExchange> measure(World& world, const std::function<Contenders<FaceExchange>()>& make,
                              const Face& face, const Effort& effort,
                              const std::function<void(int)>& progress);

// Measures the times of a step. Throws Error{refused} when what has arrived is not what was sent.
Outcome<PutExchange> measure(World& world, const std::function<Contenders<PutExchange>()>& make,
                             const Effort& effort);

// Measures the times of the parts. Throws Error{refused} as above.
Outcome<OverlapPart> measure(World& world, const std::function<Contenders<OverlapPart>()>& make,
                             const Effort& effort, const std::function<void(int)>& progress);

// Measures the time of one collective. Throws Error{refused} when a contender gives a wrong result before the
// first round or after the last.
Outcome<Coll> measure(World& world, const std::function<Contenders<Coll>()>& make, const Effort& effort,
                      const std::function<void(int)>& progress);

}  // namespace tca::bench
