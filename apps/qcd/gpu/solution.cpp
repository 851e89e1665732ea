#include "qcd/gpu/solution.hpp"

#include <algorithm>
#include <cmath>

namespace tca::qcd {

Solution solution_of(std::span<const Steps> last, const History& history, double us, double tolerance) {
  Solution solution;
  for (const Steps& one : last) {
    solution.iterations = std::max(solution.iterations, one.iterations);
    solution.updates = std::max(solution.updates, one.updates);
    solution.residuals.push_back(std::sqrt(one.relative(one.r2)));
  }
  // A right-hand side that is over stays as it is while the others go on.
  const auto at = [&](std::size_t r, int n) {
    const int own = last[r].iterations;
    return own == 0 ? last[r].relative(last[r].r2) : history.of(r)[std::min(n, own - 1)];
  };
  Numbers squared(last.size());
  for (int n = 0; n < solution.iterations; ++n) {
    for (std::size_t r = 0; r < last.size(); ++r) squared[r] = at(r, n);
    solution.history.push_back(std::sqrt(largest(squared)));
  }
  solution.converged = largest(solution.residuals) <= tolerance;
  solution.iteration_us.assign(static_cast<std::size_t>(solution.iterations),
                               us / std::max(1, solution.iterations));
  return solution;
}

}  // namespace tca::qcd
