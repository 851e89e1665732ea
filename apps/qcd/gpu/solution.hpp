// Describes the result of a solve on GPUs as the host's solvers do.
#pragma once

#include <span>

#include "qcd/gpu/decide.hpp"
#include "qcd/solver/solver.hpp"

namespace tca::qcd {

// `last` holds the final Steps of each right-hand side.
Solution solution_of(std::span<const Steps> last, const History& history, double us, double tolerance);

}  // namespace tca::qcd
