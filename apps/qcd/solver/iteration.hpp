// What the solvers share: time measurement, norms over all ranks, and the stopping criterion.
#pragma once

#include <cmath>
#include <utility>

#include "qcd/solver/solver.hpp"

namespace tca::qcd {

// The bookkeeping of one solve.
template <class T>
class Iteration {
 public:
  Iteration(Operator<T>& d, Sums& sums, const SolveOptions& options)
      : d_(d), sums_(sums), options_(options) {}

  // Takes the squared norms of the right-hand sides and of the first residuals.
  void begin(const Numbers& b2, const Numbers& r2) {
    b2_ = b2;
    note(r2);
    last_us_ = now_us(d_.world());
    last_ = d_.times();
    last_.sums_us = sums_.time_us();
  }

  // Notes the squared residuals.
  void note(const Numbers& r2) {
    solution.residuals.resize(r2.size());
    for (std::size_t r = 0; r < r2.size(); ++r)
      solution.residuals[r] = b2_[r] > 0 ? std::sqrt(r2[r] / b2_[r]) : std::sqrt(r2[r]);
  }

  // Ends an iteration, which has left these squared residuals.
  void end(const Numbers& r2) {
    note(r2);
    ++solution.iterations;
    solution.history.push_back(worst());
    const double now = now_us(d_.world());
    solution.iteration_us.push_back(now - last_us_);
    last_us_ = now;
    Times times = d_.times();
    times.sums_us = sums_.time_us();
    solution.each.push_back({.operator_us = times.operator_us - last_.operator_us,
                             .wait_us = times.wait_us - last_.wait_us,
                             .sums_us = times.sums_us - last_.sums_us});
    last_ = times;
    if (options_.progress) options_.progress(solution.iterations, worst());
  }

  // Returns whether to stop: all right-hand sides have converged, the iterations are used up, or a residual
  // is not finite, which it will stay.
  bool over() {
    solution.converged = worst() <= options_.tolerance;
    return solution.converged || solution.iterations >= options_.max_iterations || !std::isfinite(worst());
  }

  bool done(std::size_t r) const { return solution.residuals[r] <= options_.tolerance; }

  Solution finish() { return std::move(solution); }

  Solution solution;

 private:
  double worst() const { return largest(solution.residuals); }

  Operator<T>& d_;
  Sums& sums_;
  const SolveOptions& options_;
  Numbers b2_;
  double last_us_ = 0;
  Times last_;
};

// Where time is modelled, charges one kernel that does all possible work on vectors of the operator's shape
// in one pass. It reads or writes `moved` vectors, with about one flop for each real.
template <class T>
void charge(Operator<T>& d, int moved) {
  const double reals = moved * static_cast<double>(d.shape().size());
  d.world().compute(reals * sizeof(T), reals);
}

template <class T>
Numbers summed_norms(const Shape& shape, Sums& sums, const Field<T>& x) {
  Numbers result = norms(shape, x);
  sums(result);
  return result;
}

// r = b - D x
template <class T>
void residual(Operator<T>& d, const Field<T>& b, const Field<T>& x, Field<T>& r) {
  d.apply(x, r, false);
  subtract(b, r, r);
}

}  // namespace tca::qcd
