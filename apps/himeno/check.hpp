// Compares a solution with the serial reference: every cell exactly, the residual up to rounding.
#pragma once

#include <cstdint>
#include <vector>

#include "himeno/measure.hpp"
#include "himeno/problem.hpp"
#include "himeno/solution.hpp"

namespace tca::himeno {

struct Check {
  double residual = 0;               // the reference's
  double residual_difference = 0;    // relative to it
  std::vector<int> different_ranks;  // ranks with a cell that differs from the reference in any bit
  // Of all inner cells' bits, each with its place: the same for any number of ranks, and for any program that
  // has the same cells.
  std::uint64_t fingerprint = 0;

  // The tolerance is needed because the reference adds up the residual in another order.
  bool agrees() const { return different_ranks.empty() && residual_difference <= 1e-10; }
};

// Collective. Rank 0 repeats all of the solution's iterations serially; every rank gets the verdict.
Check check(World& world, const Problem& problem, const Solution& solution, const Progress& progress = {});

}  // namespace tca::himeno
