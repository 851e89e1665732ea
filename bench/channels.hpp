// The channels of a chain, read from its explain(), which has one line for each put.
#pragma once

#include <map>
#include <string>

namespace tca::bench {

// Returns how many puts each channel carries. The keys are names such as "shm/direct".
std::map<std::string, int> channels_in(const std::string& explain);
// Returns the protocols of these channels, as in "direct+staged".
std::string protocols_in(const std::string& explain);

}  // namespace tca::bench
