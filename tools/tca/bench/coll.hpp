// `tca bench barrier` and the other collectives.
#pragma once

#include <string>

#include "bench/options.hpp"
#include "tca/world.hpp"

namespace tca::tool {

bool is_coll(const std::string& what);
// Whether the collective adds doubles up.
bool is_sum(const std::string& what);

// Throws Error{invalid_argument} for options that make no sense on shm.
void check_coll_bench(const BenchOptions& options);

void run_coll_bench(World& world, const BenchOptions& options);

}  // namespace tca::tool
