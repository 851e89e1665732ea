// Runs contenders on GPUs in turn and collects the times that each took.
#pragma once

#include <functional>

#include "gpu/contenders.hpp"
#include "measure/measure.hpp"

namespace tca::bench::gpu {

struct Outcome {
  Contenders contenders;  // as last made
  std::vector<Samples> samples;
};

// Collective. Makes the contenders by `make`, checks each before and after, and returns, alike on every rank,
// the times of a step's exchange by the clock of the slowest rank's GPU. What a step writes and reads in kernels
// of its own is not in them. `progress` is called with the number of rounds done. Throws Error{refused}, on every
// rank, when a contender brings wrong values.
Outcome measure(World& world, const std::function<Contenders()>& make, const Effort& effort,
                const std::function<void(int)>& progress);

// Collective. The time of an exchange, or of whatever is put on a stream, by the clock of the slowest rank's GPU, from a few of
// them; for choosing how much to measure.
double exchange_us(World& world, Contender& contender);
double step_us(World& world, const std::function<void(cudaStream_t)>& step);

}  // namespace tca::bench::gpu
