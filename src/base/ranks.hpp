// Ranks in messages.
#pragma once

#include <span>
#include <string>

namespace tca::base {

// "0, 2, 5 to 4095", of ranks in ascending order: a message about thousands of them stays a line.
std::string list_ranks(std::span<const int> ranks);

}  // namespace tca::base
