// BiCGStab on a GPU, step by step: the operations on each complex number of the vectors, and what follows
// from the sums. The algorithm is that of bicgstab.cpp. The same source runs on the host, where tests compare
// the two.
//
// Of the solve's fields, s is the shadow residual, q = M p and w = M r.
#pragma once

#include "qcd/gpu/decide.hpp"
#include "qcd/su3.hpp"

namespace tca::qcd {

struct BicgstabSteps : Steps {
  Complex<double> rho{}, alpha{}, omega{}, beta{};
  bool moves = false;  // the current iteration counts
};

inline constexpr Word overlap_sum_count = 2, residual_sum_count = 8;

// The fields of one right-hand side are treated as arrays of complex numbers. Their order does not matter.
template <class T>
TCA_DEVICE Complex<T>& number_at(T* field, Word i) {
  return reinterpret_cast<Complex<T>*>(field)[i];
}
template <class T>
TCA_DEVICE Word numbers_of(const SolveFields<T>& f) {
  return f.ground.half() * (spinor_reals / 2);
}

// Adds <a, b> to sums[0] and sums[1].
template <class T>
TCA_DEVICE void add_product(Complex<T> a, Complex<T> b, double* sums) {
  sums[0] += static_cast<double>(a.re) * static_cast<double>(b.re) +
             static_cast<double>(a.im) * static_cast<double>(b.im);
  sums[1] += static_cast<double>(a.re) * static_cast<double>(b.im) -
             static_cast<double>(a.im) * static_cast<double>(b.re);
}
template <class T>
TCA_DEVICE double squared(Complex<T> a) {
  return static_cast<double>(a.re) * static_cast<double>(a.re) +
         static_cast<double>(a.im) * static_cast<double>(a.im);
}

// The shadow residual and the first direction are the first residual.
template <class T>
TCA_DEVICE void first_direction(const SolveFields<T>& f, Word i) {
  number_at(f.s, i) = number_at(f.p, i) = number_at(f.r, i);
}

// Adds <s, q>.
template <class T>
TCA_DEVICE void add_overlap(const SolveFields<T>& f, Word i, double* sums) {
  add_product(number_at(f.s, i), number_at(f.q, i), sums);
}

// Adds <w, r>, |w|^2, |r|^2, <s, r> and <s, w>.
template <class T>
TCA_DEVICE void add_residual(const SolveFields<T>& f, Word i, double* sums) {
  const Complex<T> w = number_at(f.w, i), r = number_at(f.r, i), s = number_at(f.s, i);
  add_product(w, r, sums);
  sums[2] += squared(w);
  sums[3] += squared(r);
  add_product(s, r, sums + 4);
  add_product(s, w, sums + 6);
}

template <class T>
TCA_DEVICE Complex<T> rounded(Complex<double> a) {
  return {static_cast<T>(a.re), static_cast<T>(a.im)};
}

// r -= alpha q
template <class T>
TCA_DEVICE void half_step(const SolveFields<T>& f, const BicgstabSteps& steps, Word i) {
  number_at(f.r, i) = number_at(f.r, i) - rounded<T>(steps.alpha) * number_at(f.q, i);
}

// x += alpha p + omega r, r -= omega w, p = r + beta (p - omega q)
template <class T>
TCA_DEVICE void whole_step(const SolveFields<T>& f, const BicgstabSteps& steps, Word i) {
  const Complex<T> alpha = rounded<T>(steps.alpha), omega = rounded<T>(steps.omega),
                   beta = rounded<T>(steps.beta);
  const Complex<T> p = number_at(f.p, i), r = number_at(f.r, i);
  number_at(f.x, i) = number_at(f.x, i) + alpha * p + omega * r;
  const Complex<T> less = r - omega * number_at(f.w, i);
  number_at(f.r, i) = less;
  number_at(f.p, i) = less + beta * (p - omega * number_at(f.q, i));
}

// a / b, or 0 if b is 0. After such a breakdown the iteration makes no progress, which shows in its residual.
TCA_DEVICE Complex<double> ratio(Complex<double> a, Complex<double> b) {
  const double size = norm(b);
  if (size == 0) return {0, 0};
  return (1 / size) * (a * conj(b));
}

// Called after the sums of a residual_stage.
TCA_DEVICE void begin(BicgstabSteps& steps, const double* sums) {
  steps.begin(sums[3], sums[2]);
  steps.rho = {steps.r2, 0};
}

// Called after the sums of the overlap. After the end of the solve nothing moves.
TCA_DEVICE void decide_half(BicgstabSteps& steps, const double* sums) {
  steps.moves = !steps.over;
  if (steps.moves) steps.alpha = ratio(steps.rho, {sums[0], sums[1]});
}

// Called after the sums of the residual, which the half step has changed.
TCA_DEVICE void decide(BicgstabSteps& steps, const double* sums, double* history) {
  if (!steps.moves) return;
  const Complex<double> wr{sums[0], sums[1]}, sr{sums[4], sums[5]}, sw{sums[6], sums[7]};
  const double w2 = sums[2], r2 = sums[3];
  const Complex<double> before = steps.rho;
  steps.omega = ratio(wr, {w2, 0});
  steps.rho = sr - steps.omega * sw;
  steps.beta = ratio(steps.rho, before) * ratio(steps.alpha, steps.omega);
  const double left = r2 - norm(steps.omega) * w2;
  steps.count(left < 0 ? 0 : left, history);  // a NaN stays a NaN
}

}  // namespace tca::qcd
