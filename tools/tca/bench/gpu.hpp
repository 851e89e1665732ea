// `tca bench --fabric cuda`: the benchmarks on GPUs.
#pragma once

#include "bench/options.hpp"

namespace tca::tool {

// Throws Error{invalid_argument} for options that cannot be measured on GPUs, or not by this build.
void check_gpu_bench(const BenchOptions& options);

// Runs the benchmark as one of the ranks.
void run_gpu_bench(World& world, const BenchOptions& options);

}  // namespace tca::tool
