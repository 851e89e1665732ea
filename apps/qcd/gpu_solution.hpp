// What a solve on GPUs came to, as the host's solvers say it.
#pragma once

#include <span>

#include "qcd/gpu_decide.hpp"
#include "qcd/solver.hpp"

namespace tca::qcd {

// `last` are the Steps of its right-hand sides.
Solution solution_of(std::span<const Steps> last, const History& history, double us, double tolerance);

}  // namespace tca::qcd
