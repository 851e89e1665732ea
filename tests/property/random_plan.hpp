// Random plans that are valid by construction: targets are disjoint parts of a rank's window, and sources lie
// anywhere.
#pragma once

#include <rapidcheck.h>

#include "plan.hpp"

namespace tca::test {

// Returns a generator of plans of at most `ranks` ranks and `steps` steps, over one of `channels`.
rc::Gen<Plan> random_plan(int ranks, std::vector<std::string> channels, int steps);

}  // namespace tca::test
