// Whether the ranks of other hosts have the library. One that has none answers no question.
#pragma once

#include <string>

#include "mpi/presence.hpp"

namespace tca::interposer {

// Meets the ranks of other hosts, if there are any. Returns why they cannot be relied on to come; empty where they have come. Where they do not
// come in time, this process ends, with a line that says why. Collective over the ranks that have the library.
std::string meet_other_hosts(const Presence& presence);

}  // namespace tca::interposer
