// Reads the sizes of the Himeno benchmark as the user types them.
#pragma once

#include <string_view>

#include "himeno/problem.hpp"

namespace tca::tool {

// Reads --size of the Himeno benchmark: the name of one of its sizes, or three extents such as 256x128x128.
himeno::Extents parse_himeno_size(std::string_view text);

}  // namespace tca::tool
