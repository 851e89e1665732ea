// One rank's part of the benchmark: its block of the matrix and its part of the vectors.
#pragma once

#include <array>
#include <cstdint>
#include <vector>

#include "cg/exchange.hpp"
#include "cg/matrix.hpp"
#include "cg/partition.hpp"
#include "cg/problem.hpp"
#include "tca/grid.hpp"
#include "tca/world.hpp"

namespace tca::cg {

// How an iteration of conjugate gradients is ordered.
enum class Order {
  npb,  // as in the benchmark: p.q, and then r.r of the new residual, each summed over the ranks
  // p.q, r.q, q.q and the present r.r, summed together: r.r of the new residual follows from these. It is
  // good enough for the next direction, but not to be carried on from iteration to iteration, where its error
  // would grow.
  merged
};

// What a step of the inverse iteration found; the same on all ranks up to rounding.
struct Step {
  double zeta = 0;      // the estimate: of the smallest eigenvalue of the matrix before it was shifted
  double residual = 0;  // of the system of equations, after the step's iterations
};

// How long each message took this rank, in microseconds, one value for each time that it was sent.
using MessageTimes = std::array<std::vector<double>, messages.size()>;

class Solver {
 public:
  // Collective. Generates this rank's block.
  Solver(World& world, const Problem& problem, const Grid& grid, const Progress& progress = {});

  // Begins again, with x = 1.
  void restart();

  // Collective. Solves A z = x by a fixed number of iterations, and makes z, scaled to length 1, the next x.
  // Adds the times of the messages to `times`, if given.
  Step step(Exchange& exchange, Order order, MessageTimes* times = nullptr);

  const Problem& problem() const { return problem_; }
  const Share& share() const { return share_; }
  const Matrix& matrix() const { return matrix_; }
  const Vectors& vectors() const { return vectors_; }

 private:
  struct Course;
  void iterate_as_npb(Course& course);
  void iterate_merged(Course& course);
  double residual(Course& course);
  void multiply(Course& course);
  void computed(double vectors, double flops_of_each);

  World& world_;
  Problem problem_;
  Share share_;
  Matrix matrix_;
  Vectors vectors_;
  std::size_t n_;  // of this rank's part of the vectors
  std::vector<double> x_, z_, r_;
};

}  // namespace tca::cg
