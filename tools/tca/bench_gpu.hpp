// `tca bench --fabric cuda`.
#pragma once

#include "bench_options.hpp"

namespace tca::tool {

// Throws Error{invalid_argument} for what cannot be measured on GPUs, or not by this build.
void check_gpu_bench(const BenchOptions& options);

// As one of the ranks.
void run_gpu_bench(World& world, const BenchOptions& options);

}  // namespace tca::tool
