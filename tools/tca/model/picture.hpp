// Draws a machine's links and the share of time that each was busy.
#pragma once

#include <string>

#include "model/net/network.hpp"

namespace tca::tool {

// Writes an SVG of the nodes or, for a single box, of its units. Each link is a line, the redder the busier.
// Throws Error{invalid_argument} when the file cannot be written.
void draw_links(const net::Network& network, des::Time end, const std::string& path);

}  // namespace tca::tool
