// `tca bench commit`: measures what the commit of a chain costs, and on sim that of a halo in a large world.
#pragma once

#include "bench/options.hpp"
#include "tca/world.hpp"

namespace tca::tool {

// Refuses options that do not fit; called before any rank is started.
void check_commit_bench(const BenchOptions& options);

void run_commit_bench(World& world, const BenchOptions& options);

// On sim.
void run_modelled_commit_bench(const BenchOptions& options, const WorldOptions& world_options);

}  // namespace tca::tool
