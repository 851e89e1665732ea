#include <array>

#include "qcd/solver/iteration.hpp"

namespace tca::qcd {
namespace {

using Number = Complex<double>;

Number operator/(Number a, Number b) {
  const double size = norm(b);
  // A breakdown: the iteration makes no progress then, which shows in its residual.
  if (size == 0) return {0, 0};
  return (1 / size) * (a * conj(b));
}
Number negative(Number a) { return {-a.re, -a.im}; }

template <class T>
void sum(Sums& sums, std::span<Phases* const> all) {
  std::vector<double> flat;
  for (const Phases* phases : all)
    for (const Number& one : *phases) flat.insert(flat.end(), {one.re, one.im});
  sums(flat);
  std::size_t at = 0;
  for (Phases* phases : all) {
    for (Number& one : *phases) {
      one = {flat[at], flat[at + 1]};
      at += 2;
    }
  }
}

Phases as_phases(const Numbers& numbers) {
  Phases result;
  for (const double one : numbers) result.push_back({one, 0});
  return result;
}

Numbers real_parts(const Phases& phases) {
  Numbers result;
  for (const Number& one : phases) result.push_back(one.re);
  return result;
}

// f(i) for right-hand sides that have not converged, and 0 for the others.
template <class T, class F>
Phases coefficients(const Shape& shape, const Iteration<T>& iteration, const F& f) {
  Phases result(shape.rhs, {0, 0});
  for (std::size_t i = 0; i < shape.rhs; ++i)
    if (!iteration.done(i)) result[i] = f(i);
  return result;
}

}  // namespace

template <class T>
Solution solve_bicgstab(Operator<T>& d, Sums& sums, const Field<T>& b, Field<T>& x,
                        const SolveOptions& options) {
  Iteration<T> iteration(d, sums, options);
  const Shape shape = d.shape();
  Field<T> r(shape.size()), v(shape.size()), t(shape.size());
  residual(d, b, x, r);
  const Field<T> shadow = r;
  Field<T> p = r;
  const Numbers r2 = summed_norms(shape, sums, r);
  Phases rho = as_phases(r2);
  iteration.begin(summed_norms(shape, sums, b), r2);
  while (!iteration.over()) {
    d.apply(p, v, false);
    Phases overlap = dots(shape, shadow, v);
    charge(d, 2);
    sum<T>(sums, std::array{&overlap});
    const Phases alpha = coefficients(shape, iteration, [&](std::size_t i) { return rho[i] / overlap[i]; });
    add_scaled(shape, coefficients(shape, iteration, [&](std::size_t i) { return negative(alpha[i]); }), v,
               r);
    charge(d, 3);
    d.apply(r, t, false);
    // The norm of the new residual r - omega t, and rho, follow from these products, which take one sum.
    Phases tr = dots(shape, t, r), tt = as_phases(norms(shape, t)), rr = as_phases(norms(shape, r));
    Phases sr = dots(shape, shadow, r), st = dots(shape, shadow, t);
    charge(d, 3);
    sum<T>(sums, std::array{&tr, &tt, &rr, &sr, &st});
    const Phases omega = coefficients(shape, iteration, [&](std::size_t i) { return tr[i] / tt[i]; });
    add_scaled(shape, alpha, p, x);
    add_scaled(shape, omega, r, x);
    const Phases less = coefficients(shape, iteration, [&](std::size_t i) { return negative(omega[i]); });
    add_scaled(shape, less, t, r);
    const Phases before = rho;
    rho = coefficients(shape, iteration, [&](std::size_t i) { return sr[i] - omega[i] * st[i]; });
    const Phases beta = coefficients(
        shape, iteration, [&](std::size_t i) { return (rho[i] / before[i]) * (alpha[i] / omega[i]); });
    add_scaled(shape, less, v, p);
    scale_and_add(shape, r, beta, p);
    charge(d, 8);  // reads p, r, t, v and x, writes p, r and x
    Numbers r2_now = real_parts(rr);
    for (std::size_t i = 0; i < shape.rhs; ++i) {
      if (iteration.done(i)) continue;
      const double left = rr[i].re - norm(omega[i]) * tt[i].re;
      r2_now[i] = left < 0 ? 0 : left;  // a NaN stays a NaN
    }
    iteration.end(r2_now);
  }
  return iteration.finish();
}

template Solution solve_bicgstab(Operator<float>&, Sums&, const Field<float>&, Field<float>&,
                                 const SolveOptions&);
template Solution solve_bicgstab(Operator<double>&, Sums&, const Field<double>&, Field<double>&,
                                 const SolveOptions&);

}  // namespace tca::qcd
