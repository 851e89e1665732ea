// `tca bench commit`: what the commit of a chain costs.
#pragma once

#include "bench_options.hpp"
#include "tca/world.hpp"

namespace tca::tool {

// Before any rank is started.
void check_commit_bench(const BenchOptions& options);

void run_commit_bench(World& world, const BenchOptions& options);

}  // namespace tca::tool
