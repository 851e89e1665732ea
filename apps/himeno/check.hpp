// The answer against the serial reference: every cell exactly, the residual to rounding.
#pragma once

#include <vector>

#include "himeno/measure.hpp"
#include "himeno/problem.hpp"
#include "himeno/solution.hpp"

namespace tca::himeno {

struct Check {
  double residual = 0;               // the reference's
  double residual_difference = 0;    // relative to it
  std::vector<int> different_ranks;  // whose cells are not the reference's, to the bit

  // The sum of the residual is taken in another order than the reference's, hence the tolerance.
  bool agrees() const { return different_ranks.empty() && residual_difference <= 1e-10; }
};

// Collective. Rank 0 repeats all of the solution's iterations serially; every rank gets its verdict.
Check check(World& world, const Problem& problem, const Solution& solution, const Progress& progress = {});

}  // namespace tca::himeno
