// Extents of grids, arrays and lattices as people type them.
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string_view>
#include <vector>

#include "himeno/problem.hpp"

namespace tca::tool {

// What an option says: "2x8x1", or "2,8,1" as papers have it; nothing for anything but numbers. Refuses those that are
// not from 1 to 2^24.
std::optional<std::vector<std::int64_t>> parse_extents(std::string_view option, std::string_view text);

// What --size says of the Himeno benchmark: the extents of one of its sizes by name, or three extents such as 256x128x128.
himeno::Extents parse_himeno_size(std::string_view text);

// What --grid says: how many ranks along each of three or four dimensions. Refuses any other number of dimensions or ranks.
std::vector<int> parse_grid(std::string_view text, std::size_t dims, int ranks);

}  // namespace tca::tool
