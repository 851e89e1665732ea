// Which channels a chain has taken, of what its explain() says: a line a put.
#pragma once

#include <map>
#include <string>

namespace tca::bench {

// How many puts each channel carries, by its name as fabric/protocol.
std::map<std::string, int> channels_in(const std::string& explain);
// Their protocols, as "direct+staged".
std::string protocols_in(const std::string& explain);

}  // namespace tca::bench
