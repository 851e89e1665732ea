// Least squares for a few numbers of a machine: Levenberg's and Marquardt's method with differences for derivatives.
#pragma once

#include <functional>
#include <string>
#include <vector>

namespace tca::tool {

struct FitProblem {
  // Numbers above 0, of which the logarithm is what moves, and how far each may move from where it began, as a factor.
  std::vector<double> start;
  double reach = 4;
  // Relative errors at given numbers; as many on every call.
  std::function<std::vector<double>(const std::vector<double>&)> errors;
  int rounds = 12;
  std::function<void(int round, double loss)> report;  // after each round
};

// What a set of errors costs: near 0 their squares, beyond `knee` only their sizes, so that rows that the model cannot reach
// do not spoil the others.
double loss_of(const std::vector<double>& errors);

// The numbers with the least loss found; deterministic.
std::vector<double> solve(const FitProblem& problem);

}  // namespace tca::tool
