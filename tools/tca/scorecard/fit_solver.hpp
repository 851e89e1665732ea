// Least squares for a few numbers of a machine: the Levenberg-Marquardt method, with differences for
// derivatives.
#pragma once

#include <functional>
#include <string>
#include <vector>

namespace tca::tool {

struct FitProblem {
  // The numbers, all above 0. The solver moves their logarithms, each by `reach` as a factor at most from its
  // start.
  std::vector<double> start;
  double reach = 4;
  // Returns the relative errors at given numbers, as many on every call.
  std::function<std::vector<double>(const std::vector<double>&)> errors;
  int rounds = 12;
  std::function<void(int round, double loss)> report;  // after each round
};

// Returns the loss of a set of errors: quadratic near 0 and linear beyond `knee`, so that rows that the model
// cannot reach do not spoil the others.
double loss_of(const std::vector<double>& errors);

// Returns the numbers with the least loss found. Deterministic.
std::vector<double> solve(const FitProblem& problem);

}  // namespace tca::tool
