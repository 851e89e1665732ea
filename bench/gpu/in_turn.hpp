// Runs contenders on GPUs in turn and collects the times that each took.
#pragma once

#include <functional>

#include "gpu/contenders.hpp"
#include "measure.hpp"

namespace tca::bench::gpu {

struct Outcome {
  Contenders contenders;  // as last made
  std::vector<Samples> samples;
};

// Collective. Makes the contenders by `make`, checks each, and returns the times of a step by rank 0's GPU.
// `progress` is called with the number of rounds done. Throws Error{refused}, on every rank, when a contender
// brings wrong values.
Outcome measure(World& world, const std::function<Contenders()>& make, const Effort& effort,
                const std::function<void(int)>& progress);

}  // namespace tca::bench::gpu
