// Random chains that are valid by construction: targets are carved out of a rank's window, sources lie anywhere.
#pragma once

#include <rapidcheck.h>

#include "plan.hpp"

namespace tca::test {

// Of at most `ranks` ranks, over one of `routes`.
rc::Gen<Plan> random_plan(int ranks, std::vector<std::string> routes, int steps);

}  // namespace tca::test
