// Krylov solvers for D x = b, for one right-hand side or for several in step. Each right-hand side has its
// own coefficients, and one that has converged stays as it is while the others go on.
#pragma once

#include <cmath>
#include <functional>
#include <vector>

#include "qcd/field.hpp"
#include "qcd/operators/operator.hpp"
#include "qcd/solver/sums.hpp"

namespace tca::qcd {

// The largest of the numbers, which are residuals or the like and not negative. A NaN counts as larger than
// any other.
inline double largest(const Numbers& numbers) {
  double largest = 0;
  for (const double number : numbers) {
    if (std::isnan(number)) return number;
    if (number > largest) largest = number;
  }
  return largest;
}

struct SolveOptions {
  double tolerance = 1e-9;  // |b - D x| / |b|
  int max_iterations = 10000;
  // Mixed precision: the residual is recomputed in double whenever it has fallen by this factor.
  double update_at = 0.1;
  // Called after every iteration on every rank, with the largest relative residual of the right-hand sides.
  std::function<void(int iteration, double residual)> progress = {};
};

struct Solution {
  bool converged = false;
  int iterations = 0;
  int updates = 0;                   // of the residual in double (mixed precision)
  Numbers residuals;                 // |b - D x| / |b|, as the iteration computes them
  std::vector<double> history;       // the largest residual after every iteration
  std::vector<double> iteration_us;  // on this rank
  std::vector<Times> each;           // on this rank, of each iteration
};

// Conjugate gradients on the normal equations, D^dagger D x = D^dagger b, in the form that updates the
// residual of D x = b itself (CGLS: M. Hestenes and E. Stiefel, 1952). The iterates are the same, and the
// stopping criterion is the residual that was asked for. An iteration takes two applications and two sums.
// `x` holds the initial guess and receives the answer. `sums` needs room for two numbers for each right-hand
// side.
template <class T>
Solution solve_cg(Operator<T>& d, Sums& sums, const Field<T>& b, Field<T>& x, const SolveOptions& options);

// The same iterates in single precision, with reliable updates: from time to time the residual is computed in
// double from the whole solution, and the search goes on from there.
Solution solve_cg_mixed(Operator<double>& d, Operator<float>& single, Sums& sums, const Field<double>& b,
                        Field<double>& x, const SolveOptions& options);

// BiCGStab (H. van der Vorst, 1992) on D itself. An iteration takes two applications and two sums. `sums`
// needs room for ten numbers for each right-hand side.
template <class T>
Solution solve_bicgstab(Operator<T>& d, Sums& sums, const Field<T>& b, Field<T>& x,
                        const SolveOptions& options);

// Collective. Computes |b - D x| / |b| afresh.
Numbers true_residuals(Operator<double>& d, Sums& sums, const Field<double>& b, const Field<double>& x);

}  // namespace tca::qcd
