// Reads extents of grids, arrays and lattices as the user types them.
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string_view>
#include <vector>

namespace tca::tool {

// Reads the text of an option: "2x8x1", or "2,8,1" as papers write it. Returns nothing when it holds anything
// but numbers. Refuses numbers outside 1 to 2^24.
std::optional<std::vector<std::int64_t>> parse_extents(std::string_view option, std::string_view text);

// Reads --grid: how many ranks there are along each of two to four dimensions. Refuses any other number of
// dimensions or ranks.
std::vector<int> parse_grid(std::string_view text, std::size_t dims, int ranks);

}  // namespace tca::tool
