// `tca qcd` as one rank.
#pragma once

#include "qcd/cli/options.hpp"
#include "tca/world.hpp"

namespace tca::tool {

// Returns the exit code, which is 1 when a solve did not converge. Collective.
int run_qcd(World& world, const QcdOptions& options);

}  // namespace tca::tool
