// Krylov solvers for D x = b, for one or several right-hand sides in step: each has coefficients of its own, and one that
// has converged stays as it is while the others go on.
#pragma once

#include <cmath>
#include <functional>
#include <vector>

#include "qcd/field.hpp"
#include "qcd/operator.hpp"
#include "qcd/sums.hpp"

namespace tca::qcd {

// Of residuals and the like, none of them negative; what is no number counts as larger than any.
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
  // Mixed precision: the residual is computed anew in double whenever it has fallen by this factor.
  double update_at = 0.1;
  // Told after every iteration, on every rank; the largest of the right-hand sides' relative residuals.
  std::function<void(int iteration, double residual)> progress = {};
};

struct Solution {
  bool converged = false;
  int iterations = 0;
  int updates = 0;                   // of the residual in double (mixed precision)
  Numbers residuals;                 // |b - D x| / |b|, as the iteration knows them
  std::vector<double> history;       // the largest of them, after every iteration
  std::vector<double> iteration_us;  // of this rank
  Times times;                       // of this rank, the iterations together
};

// Conjugate gradients on the normal equations, D^dagger D x = D^dagger b, in the form that carries the residual of D x = b
// itself (CGLS: M. Hestenes and E. Stiefel, 1952): the same iterates, and what is asked for is what is checked. Two
// applications and two sums an iteration. `x` holds the first guess, and the answer. Sums needs room for two numbers a
// right-hand side.
template <class T>
Solution solve_cg(Operator<T>& d, Sums& sums, const Field<T>& b, Field<T>& x, const SolveOptions& options);

// The same iterations in single precision, with reliable updates: from time to time the residual is computed in double
// from the whole solution, and the search goes on from there.
Solution solve_cg_mixed(Operator<double>& d, Operator<float>& single, Sums& sums, const Field<double>& b,
                        Field<double>& x, const SolveOptions& options);

// BiCGStab (H. van der Vorst, 1992) on D itself: two applications and two sums an iteration. Sums needs room for ten
// numbers a right-hand side.
template <class T>
Solution solve_bicgstab(Operator<T>& d, Sums& sums, const Field<T>& b, Field<T>& x,
                        const SolveOptions& options);

// |b - D x| / |b|, computed afresh. Collective.
Numbers true_residuals(Operator<double>& d, Sums& sums, const Field<double>& b, const Field<double>& x);

}  // namespace tca::qcd
