// Running contenders in turn and collecting what each took.
#pragma once

#include <functional>
#include <memory>
#include <vector>

#include "contender.hpp"

namespace tca::bench {

// How much to measure. A sample is a run of calls long enough for the clock, behind one more that is not timed, since it
// finds memory as another contender has left it; a round takes one of every contender.
// Where the pages of an array lie in physical memory can double the time of a strided walk, so contenders are made
// anew, with new memory, every few rounds.
struct Effort {
  int placements = 7;
  int rounds = 9;  // for each placement
  double sample_us = 1000;
  // How often a sample is taken anew because some rank had to leave its core to somebody else meanwhile.
  int retries = 0;
};

using Samples = std::vector<double>;  // microseconds a call, one for each round

template <class Contender>
using Contenders = std::vector<std::unique_ptr<Contender>>;

// What came of it: the contenders as last made, and the samples of each.
template <class Contender>
struct Outcome {
  Contenders<Contender> contenders;
  std::vector<Samples> samples;
};

// All are collective, make the contenders by `make`, and give the times that rank 0 measured. `progress` hears the
// number of rounds done.

// One-way times. Throws Error{refused} when a contender brings something else than was sent, before or after.
Outcome<PingPong> measure(World& world, const std::function<Contenders<PingPong>()>& make,
                          const Effort& effort, const std::function<void(int)>& progress);

// Times of a step: rewrite both edges, exchange, read both ghosts. Throws Error{refused} when a contender's ghosts
// are not what the neighbours wrote.
Outcome<FaceExchange> measure(World& world, const std::function<Contenders<FaceExchange>()>& make,
                              const Face& face, const Effort& effort,
                              const std::function<void(int)>& progress);

// Times of a step. Throws Error{refused} when something else has arrived than was sent.
Outcome<PutExchange> measure(World& world, const std::function<Contenders<PutExchange>()>& make,
                             const Effort& effort);

// Times of the parts. Throws Error{refused} as above.
Outcome<OverlapPart> measure(World& world, const std::function<Contenders<OverlapPart>()>& make,
                             const Effort& effort, const std::function<void(int)>& progress);

// Times of one collective. Throws Error{refused} when a contender gives a wrong result before or after.
Outcome<Coll> measure(World& world, const std::function<Contenders<Coll>()>& make, const Effort& effort,
                      const std::function<void(int)>& progress);

}  // namespace tca::bench
