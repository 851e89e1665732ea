// What levels of searches took, where a kernel has told.
#pragma once

#include <nlohmann/json.hpp>

#include "bfs/measure.hpp"

namespace tca::tool {

// A line for each level from the root on; nothing where they have no times.
void print_levels(const bfs::Result& result);

// As "levels_in_kernel" of a record.
nlohmann::ordered_json json_of_levels(const bfs::Result& result);

}  // namespace tca::tool
