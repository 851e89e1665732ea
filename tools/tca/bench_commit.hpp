// `tca bench commit`: what the commit of a chain costs.
#pragma once

#include "bench_options.hpp"
#include "tca/world.hpp"

namespace tca::tool {

void run_commit_bench(World& world, const BenchOptions& options);

}  // namespace tca::tool
