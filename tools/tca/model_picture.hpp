// A picture of a machine's links and how much of the time each was busy.
#pragma once

#include <string>

#include "net/network.hpp"

namespace tca::tool {

// SVG: nodes or, in a single box, its units, with a line a link, the darker the busier. Throws Error{invalid_argument} when
// the file cannot be written.
void draw_links(const net::Network& network, des::Time end, const std::string& path);

}  // namespace tca::tool
