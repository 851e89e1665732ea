// The spin algebra of the Wilson operator, for one site.
//
// The basis is chiral, gamma5 = diag(1, 1, -1, -1). Every gamma_mu then consists of two blocks off the
// diagonal:
//   gamma_mu = [0 sigma_mu; sigma_mu^dagger 0],
//   with sigma_k = -i times Pauli's matrices (k = x, y, z) and sigma_t = 1.
// So the lower half of (1 + s gamma_mu) psi is s sigma_mu^dagger times its upper half: only the upper half
// needs to be multiplied by a link, and to be sent.
//
// A spinor is 24 reals: its upper half, then its lower half. For each colour, a half has
// two spins (re, im, re, im).
#pragma once

#include "qcd/four.hpp"
#include "qcd/su3.hpp"

namespace tca::qcd {

inline constexpr int spinor_reals = 24;
inline constexpr int half_reals = 12;

template <class T>
struct Half {
  Four<T> colour[3];
};

template <class T>
struct Spinor {
  Half<T> up, down;
};

// sign * sigma_mu v
template <class T, int mu, int sign>
TCA_DEVICE Four<T> sigma(Four<T> v) {
  constexpr T s = sign;
  if constexpr (mu == 0) {
    const Four<T> x = TCA_QCD_SHUFFLE(v, 3, 2, 1, 0);
    return Four<T>{s, -s, s, -s} * x;
  } else if constexpr (mu == 1) {
    const Four<T> x = TCA_QCD_SHUFFLE(v, 2, 3, 0, 1);
    return Four<T>{-s, -s, s, s} * x;
  } else if constexpr (mu == 2) {
    const Four<T> x = TCA_QCD_SHUFFLE(v, 1, 0, 3, 2);
    return Four<T>{s, -s, -s, s} * x;
  } else {
    return s * v;
  }
}

// The upper half of (1 + sign gamma_mu) psi, where psi is a spinor in memory.
template <class T, int mu, int sign>
TCA_DEVICE Half<T> project(const T* psi) {
  Half<T> half;
  for (int a = 0; a < 3; ++a)
    half.colour[a] = load_four(psi + 4 * a) + sigma<T, mu, sign>(load_four(psi + half_reals + 4 * a));
  return half;
}

// Adds (1 + sign gamma_mu) psi, whose upper half is `half`. sigma^dagger is -sigma in space and sigma in
// time.
template <class T, int mu, int sign>
TCA_DEVICE void add_whole(const Half<T>& half, Spinor<T>& sum) {
  for (int a = 0; a < 3; ++a) {
    sum.up.colour[a] = sum.up.colour[a] + half.colour[a];
    sum.down.colour[a] = sum.down.colour[a] + sigma < T, mu, mu == 3 ? sign : -sign > (half.colour[a]);
  }
}

// i v, for both spins.
template <class T>
TCA_DEVICE Four<T> times_i(Four<T> v) {
  const Four<T> x = TCA_QCD_SHUFFLE(v, 1, 0, 3, 2);
  return Four<T>{-1, 1, -1, 1} * x;
}

template <class T>
TCA_DEVICE Half<T> multiply(const Matrix<T>& u, const Half<T>& half) {
  const Four<T> i0 = times_i<T>(half.colour[0]), i1 = times_i<T>(half.colour[1]),
                i2 = times_i<T>(half.colour[2]);
  Half<T> result;
  for (int a = 0; a < 3; ++a) {
    result.colour[a] = u.m[a][0].re * half.colour[0] + u.m[a][0].im * i0 + u.m[a][1].re * half.colour[1] +
                       u.m[a][1].im * i1 + u.m[a][2].re * half.colour[2] + u.m[a][2].im * i2;
  }
  return result;
}

// u^dagger times `half`.
template <class T>
TCA_DEVICE Half<T> multiply_adjoint(const Matrix<T>& u, const Half<T>& half) {
  const Four<T> i0 = times_i<T>(half.colour[0]), i1 = times_i<T>(half.colour[1]),
                i2 = times_i<T>(half.colour[2]);
  Half<T> result;
  for (int a = 0; a < 3; ++a) {
    result.colour[a] = u.m[0][a].re * half.colour[0] + -u.m[0][a].im * i0 + u.m[1][a].re * half.colour[1] +
                       -u.m[1][a].im * i1 + u.m[2][a].re * half.colour[2] + -u.m[2][a].im * i2;
  }
  return result;
}

template <class T>
TCA_DEVICE Half<T> load_half(const T* from) {
  return {{load_four(from), load_four(from + 4), load_four(from + 8)}};
}

template <class T>
TCA_DEVICE void store_half(T* to, const Half<T>& half) {
  for (int a = 0; a < 3; ++a) store_four(to + 4 * a, half.colour[a]);
}

}  // namespace tca::qcd
