// Running contenders on GPUs in turn and collecting what each took.
#pragma once

#include <functional>

#include "gpu/contenders.hpp"
#include "measure.hpp"

namespace tca::bench::gpu {

struct Outcome {
  Contenders contenders;  // as last made
  std::vector<Samples> samples;
};

// Collective. Makes the contenders by `make`, checks each, and gives the times of a step by rank 0's GPU.
// Throws Error{refused}, on every rank, when one brings wrong values. `progress` hears the number of rounds
// done.
Outcome measure(World& world, const std::function<Contenders()>& make, const Effort& effort,
                const std::function<void(int)>& progress);

}  // namespace tca::bench::gpu
