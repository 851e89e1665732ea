// `tca bench overlap`: measures how much of an exchange is hidden behind a computation.
#pragma once

#include "bench/options.hpp"
#include "tca/world.hpp"

namespace tca::tool {

// Throws Error{invalid_argument} for options that do not go together.
void check_overlap_bench(const BenchOptions& options);

void run_overlap_bench(World& world, const BenchOptions& options);

}  // namespace tca::tool
