// What `tca qcd` does as one rank.
#pragma once

#include "qcd_options.hpp"
#include "tca/world.hpp"

namespace tca::tool {

// Collective. Returns the exit code: 1 when a solve did not converge.
int run_qcd(World& world, const QcdOptions& options);

}  // namespace tca::tool
