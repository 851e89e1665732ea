// Running contenders in turn and collecting what each took.
#pragma once

#include <functional>
#include <vector>

#include "contender.hpp"

namespace tca::bench {

// How much to measure. A sample is a run of calls long enough for the clock; a round takes one of every contender.
struct Effort {
  int rounds = 41;
  double sample_us = 1000;
};

using Samples = std::vector<double>;  // microseconds a call, one for each round

// Collective. One-way times, by contender; the same on every rank as measured by rank 0.
std::vector<Samples> measure(World& world, const std::vector<std::unique_ptr<PingPong>>& contenders,
                             const Effort& effort, const std::function<void(int round)>& progress);

// Collective. Times of a step by rank 0: rewrite both edges, exchange, read both ghosts. Throws Error{refused} when a
// contender's ghosts are not what the neighbours wrote.
std::vector<Samples> measure(World& world, const std::vector<std::unique_ptr<FaceExchange>>& contenders,
                             const Face& face, const Effort& effort,
                             const std::function<void(int round)>& progress);

}  // namespace tca::bench
