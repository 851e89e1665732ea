#include "scorecard/fit_solver.hpp"

#include <algorithm>
#include <cmath>

namespace tca::tool {

namespace {

constexpr double knee = 0.03;
// Difference of a logarithm, for derivatives. It is large, since the model moves in packets, not smoothly.
constexpr double log_step = 0.02;

using Matrix = std::vector<std::vector<double>>;

// Returns the weight of a squared error that makes the sum Huber's loss.
double weight_of(double error) { return std::abs(error) <= knee ? 1 : knee / std::abs(error); }

// Solves the system by Gaussian elimination with row exchanges; the matrix is positive definite.
std::vector<double> solve_linear(Matrix a, std::vector<double> b) {
  const std::size_t n = b.size();
  for (std::size_t k = 0; k < n; ++k) {
    std::size_t pivot = k;
    for (std::size_t i = k + 1; i < n; ++i)
      if (std::abs(a[i][k]) > std::abs(a[pivot][k])) pivot = i;
    std::swap(a[k], a[pivot]);
    std::swap(b[k], b[pivot]);
    for (std::size_t i = k + 1; i < n; ++i) {
      const double factor = a[i][k] / a[k][k];
      for (std::size_t j = k; j < n; ++j) a[i][j] -= factor * a[k][j];
      b[i] -= factor * b[k];
    }
  }
  std::vector<double> x(n);
  for (std::size_t k = n; k-- > 0;) {
    double sum = b[k];
    for (std::size_t j = k + 1; j < n; ++j) sum -= a[k][j] * x[j];
    x[k] = sum / a[k][k];
  }
  return x;
}

std::vector<double> exponentials(const std::vector<double>& logarithms) {
  std::vector<double> numbers;
  for (const double logarithm : logarithms) numbers.push_back(std::exp(logarithm));
  return numbers;
}

class Solver {
 public:
  explicit Solver(const FitProblem& problem) : problem_(problem) {
    for (const double number : problem.start) at_.push_back(std::log(number));
    began_ = at_;
    errors_ = problem_.errors(problem.start);
  }

  std::vector<double> solve() {
    for (int round = 1; round <= problem_.rounds; ++round) {
      const bool better = improve();
      if (problem_.report) problem_.report(round, loss_of(errors_));
      if (!better) break;
    }
    return exponentials(at_);
  }

 private:
  // Returns the derivative of each error by each logarithm.
  Matrix derivatives() const {
    Matrix columns;
    for (std::size_t k = 0; k < at_.size(); ++k) {
      std::vector<double> moved = at_;
      moved[k] += log_step;
      std::vector<double> column = problem_.errors(exponentials(moved));
      for (std::size_t i = 0; i < column.size(); ++i) column[i] = (column[i] - errors_[i]) / log_step;
      columns.push_back(std::move(column));
    }
    return columns;
  }

  // Runs one round: takes the step that the derivatives ask for, damped more and more until it lowers the
  // loss.
  bool improve() {
    const Matrix columns = derivatives();
    const std::size_t n = at_.size();
    Matrix normal(n, std::vector<double>(n));
    std::vector<double> gradient(n);
    for (std::size_t i = 0; i < errors_.size(); ++i) {
      const double weight = weight_of(errors_[i]);
      for (std::size_t j = 0; j < n; ++j) {
        gradient[j] -= weight * columns[j][i] * errors_[i];
        for (std::size_t k = 0; k < n; ++k) normal[j][k] += weight * columns[j][i] * columns[k][i];
      }
    }
    const double before = loss_of(errors_);
    for (int attempt = 0; attempt < 6; ++attempt, damping_ *= 5) {
      if (!take(normal, gradient, before)) continue;
      damping_ = std::max(damping_ / 5, 1e-4);
      return true;
    }
    return false;
  }

  bool take(Matrix normal, const std::vector<double>& gradient, double before) {
    for (std::size_t k = 0; k < normal.size(); ++k) normal[k][k] += damping_ * (normal[k][k] + 1e-3);
    const std::vector<double> move = solve_linear(std::move(normal), gradient);
    std::vector<double> there = at_;
    const double reach = std::log(problem_.reach);
    for (std::size_t k = 0; k < there.size(); ++k)
      there[k] = std::clamp(there[k] + std::clamp(move[k], -0.5, 0.5), began_[k] - reach, began_[k] + reach);
    std::vector<double> errors = problem_.errors(exponentials(there));
    if (loss_of(errors) >= before * (1 - 1e-4)) return false;
    at_ = std::move(there);
    errors_ = std::move(errors);
    return true;
  }

  const FitProblem& problem_;
  std::vector<double> at_, began_;  // logarithms of the numbers
  std::vector<double> errors_;
  double damping_ = 0.01;
};

}  // namespace

double loss_of(const std::vector<double>& errors) {
  double sum = 0;
  for (const double error : errors) {
    const double size = std::abs(error);
    sum += size <= knee ? size * size : knee * (2 * size - knee);
  }
  return sum;
}

std::vector<double> solve(const FitProblem& problem) { return Solver(problem).solve(); }

}  // namespace tca::tool
