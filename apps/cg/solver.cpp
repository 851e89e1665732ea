// The names of the vectors and scalars are the benchmark's. p is where the matrix reads it, in
// Vectors::operand, and q where products arrive, in Vectors::result.
#include "cg/solver.hpp"

#include <algorithm>
#include <cmath>

#include "cg/kernels.hpp"

namespace tca::cg {

// What a step uses: how ranks exchange, and where the times go, if anywhere.
struct Solver::Course {
  World& world;
  Exchange& exchange;
  MessageTimes* times;

  template <class Send>
  void timed(Message message, const Send& send) {
    if (!times) return send();
    const double begin = world.now().count();
    send();
    (*times)[static_cast<std::size_t>(message)].push_back((world.now().count() - begin) * 1e6);
  }
  template <std::size_t n>
  std::array<double, n> sum(std::array<double, n> values) {
    timed(Message::dot, [&] { exchange.sum(values); });
    return values;
  }
  double sum(double value) { return sum(std::array{value})[0]; }
};

Solver::Solver(World& world, const Problem& problem, const Grid& grid, const Progress& progress)
    : world_(world),
      problem_(problem),
      share_(share_of(problem, grid, world.rank())),
      matrix_(make_matrix(problem, share_.rows, share_.columns, progress)),
      vectors_(make_vectors(world, share_)),
      n_(static_cast<std::size_t>(share_.own.size)),
      x_(n_),
      z_(n_),
      r_(n_) {
  restart();
}

void Solver::restart() { std::ranges::fill(x_, 1.0); }

// Tells a modelled machine what a loop does that reads or writes so many of this rank's vectors.
void Solver::computed(double vectors, double flops_of_each) {
  const auto n = static_cast<double>(n_);
  world_.compute(vectors * n * sizeof(double), flops_of_each * n);
}

// q = A p.
void Solver::multiply(Course& course) {
  course.timed(Message::gather, [&] { course.exchange.gather(); });
  cg::multiply(matrix_, vectors_.operand.data(), vectors_.product.data());
  const auto elements = static_cast<double>(matrix_.nonzeros());
  const auto length = static_cast<double>(share_.rows.size + share_.columns.size);
  world_.compute(elements * (sizeof(double) + sizeof(std::int32_t)) + length * sizeof(double), 2 * elements);
  course.timed(Message::spmv, [&] { course.exchange.add_up(); });
  course.timed(Message::transpose, [&] { course.exchange.transpose(); });
}

void Solver::iterate_as_npb(Course& course) {
  double* const p = vectors_.own_operand(share_);
  const double* const q = vectors_.result.data();
  double rho = course.sum(dot(r_.data(), r_.data(), n_));
  for (int i = 0; i < inner_iterations; ++i) {
    multiply(course);
    const double own = dot(p, q, n_);
    computed(2, 2);
    const double alpha = rho / course.sum(own);
    const double squares = advance(alpha, p, q, z_.data(), r_.data(), n_);
    computed(6, 6);
    const double before = rho;
    rho = course.sum(squares);
    turn(rho / before, r_.data(), p, n_);
    computed(3, 2);
  }
}

void Solver::iterate_merged(Course& course) {
  double* const p = vectors_.own_operand(share_);
  const double* const q = vectors_.result.data();
  for (int i = 0; i < inner_iterations; ++i) {
    multiply(course);
    const auto own = four_dots(p, q, r_.data(), n_);
    computed(3, 8);
    const auto [pq, rq, qq, rr] = course.sum(own);
    const double alpha = rr / pq;
    const double beta = (rr - 2 * alpha * rq + alpha * alpha * qq) / rr;
    advance_and_turn(alpha, beta, q, p, z_.data(), r_.data(), n_);
    computed(7, 6);
  }
}

// Returns the length of x - A z.
double Solver::residual(Course& course) {
  std::ranges::copy(z_, vectors_.own_operand(share_));
  multiply(course);
  const double own = squared_distance(x_.data(), vectors_.result.data(), n_);
  computed(2, 3);
  return std::sqrt(course.sum(own));
}

Step Solver::step(Exchange& exchange, Order order, MessageTimes* times) {
  Course course{world_, exchange, times};
  std::ranges::fill(z_, 0.0);
  r_ = x_;
  std::ranges::copy(x_, vectors_.own_operand(share_));
  order == Order::npb ? iterate_as_npb(course) : iterate_merged(course);
  const double left = residual(course);

  const std::array own{dot(x_.data(), z_.data(), n_), dot(z_.data(), z_.data(), n_)};
  computed(2, 4);
  const auto [xz, zz] = course.sum(own);
  const double scale = 1 / std::sqrt(zz);
  for (std::size_t i = 0; i < n_; ++i) x_[i] = scale * z_[i];
  computed(2, 1);
  return {.zeta = problem_.shift + 1 / xz, .residual = left};
}

}  // namespace tca::cg
