// Conjugate gradients on the normal equations, in one precision and in two.

#include <algorithm>

#include "qcd/solver/iteration.hpp"

namespace tca::qcd {
namespace {

// The fields of an iteration: r = b - D x, s = D^dagger r, the direction p, and q = D p.
template <class T>
struct Search {
  explicit Search(const Shape& fields)
      : shape(fields), r(shape.size()), s(shape.size()), p(shape.size()), q(shape.size()) {}

  Shape shape;
  Field<T> r, s, p, q;
  Numbers s2, r2;

  // Computes s, and the squared norms of s and r in one sum.
  void look(Operator<T>& d, Sums& sums) {
    d.apply(r, s, true);
    Numbers both = norms(shape, s);
    const Numbers mine = norms(shape, r);
    charge(d, 2);
    both.insert(both.end(), mine.begin(), mine.end());
    sums(both);
    const auto middle = both.begin() + static_cast<std::ptrdiff_t>(shape.rhs);
    s2.assign(both.begin(), middle);
    r2.assign(middle, both.end());
  }

  // Moves x along p to where the residual is smallest, and updates the residual.
  void step(Operator<T>& d, Sums& sums, Field<T>& x, const Iteration<T>& iteration) {
    d.apply(p, q, false);
    charge(d, 1);
    const Numbers q2 = summed_norms(shape, sums, q);
    Numbers forth(shape.rhs, 0), back(shape.rhs, 0);
    for (std::size_t i = 0; i < shape.rhs; ++i) {
      if (iteration.done(i) || q2[i] == 0) continue;
      forth[i] = s2[i] / q2[i];
      back[i] = -forth[i];
    }
    add_scaled(shape, forth, p, x);
    add_scaled(shape, back, q, r);
    charge(d, 6);
  }

  // Computes the next direction. `before` is the s2 of the previous one.
  void turn(Operator<T>& d, const Numbers& before) {
    Numbers beta(shape.rhs, 0);
    for (std::size_t i = 0; i < shape.rhs; ++i)
      if (before[i] > 0) beta[i] = s2[i] / before[i];
    scale_and_add(shape, s, beta, p);
    charge(d, 3);
  }
};

}  // namespace

template <class T>
Solution solve_cg(Operator<T>& d, Sums& sums, const Field<T>& b, Field<T>& x, const SolveOptions& options) {
  Iteration<T> iteration(d, sums, options);
  Search<T> search(d.shape());
  residual(d, b, x, search.r);
  search.look(d, sums);
  search.p = search.s;
  iteration.begin(summed_norms(search.shape, sums, b), search.r2);
  while (!iteration.over()) {
    const Numbers before = search.s2;
    search.step(d, sums, x, iteration);
    search.look(d, sums);
    search.turn(d, before);
    iteration.end(search.r2);
  }
  return iteration.finish();
}

Solution solve_cg_mixed(Operator<double>& d, Operator<float>& single, Sums& sums, const Field<double>& b,
                        Field<double>& x, const SolveOptions& options) {
  Iteration<float> iteration(single, sums, options);
  const Shape shape = d.shape();
  Search<float> search(shape);
  Field<double> r(shape.size()), step(shape.size());
  Field<float> since(shape.size(), 0);  // the solution since the last update
  const auto update = [&] {
    convert(since, step);
    add_scaled(shape, Numbers(shape.rhs, 1), step, x);
    std::fill(since.begin(), since.end(), 0.0F);
    residual(d, b, x, r);
    convert(r, search.r);
  };
  update();
  search.look(single, sums);
  search.p = search.s;
  iteration.begin(summed_norms(shape, sums, b), search.r2);
  double highest = largest(iteration.solution.residuals);
  while (!iteration.over()) {
    const Numbers before = search.s2;
    search.step(single, sums, since, iteration);
    search.look(single, sums);
    const auto relative = [&] {
      iteration.note(search.r2);
      return largest(iteration.solution.residuals);
    };
    if (const double now = relative(); now < options.update_at * highest || now <= options.tolerance) {
      update();
      search.look(single, sums);
      ++iteration.solution.updates;
      highest = relative();
    }
    search.turn(single, before);
    iteration.end(search.r2);
  }
  return iteration.finish();
}

Numbers true_residuals(Operator<double>& d, Sums& sums, const Field<double>& b, const Field<double>& x) {
  Field<double> r(d.shape().size());
  residual(d, b, x, r);
  Numbers result = summed_norms(d.shape(), sums, r);
  const Numbers b2 = summed_norms(d.shape(), sums, b);
  for (std::size_t i = 0; i < result.size(); ++i)
    result[i] = std::sqrt(b2[i] > 0 ? result[i] / b2[i] : result[i]);
  return result;
}

template Solution solve_cg(Operator<float>&, Sums&, const Field<float>&, Field<float>&, const SolveOptions&);
template Solution solve_cg(Operator<double>&, Sums&, const Field<double>&, Field<double>&,
                           const SolveOptions&);

}  // namespace tca::qcd
