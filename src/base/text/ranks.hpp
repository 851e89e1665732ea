// Formats lists of ranks for messages.
#pragma once

#include <span>
#include <string>

namespace tca::base {

// Formats ranks in ascending order as in "0, 2, 5 to 4095". After ten pieces the list ends with e.g. "and
// 87 others", so that a message about thousands of ranks stays one line.
std::string list_ranks(std::span<const int> ranks);

}  // namespace tca::base
