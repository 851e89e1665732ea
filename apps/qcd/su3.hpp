// SU(3) matrices: three rows of three complex numbers (real, imaginary). Callable on the GPU.
#pragma once

#include <cmath>

#include "tca/device/memory.hpp"

namespace tca::qcd {

template <class T>
struct Complex {
  T re, im;
};

template <class T>
TCA_DEVICE Complex<T> operator+(Complex<T> a, Complex<T> b) {
  return {a.re + b.re, a.im + b.im};
}
template <class T>
TCA_DEVICE Complex<T> operator-(Complex<T> a, Complex<T> b) {
  return {a.re - b.re, a.im - b.im};
}
template <class T>
TCA_DEVICE Complex<T> operator*(Complex<T> a, Complex<T> b) {
  return {a.re * b.re - a.im * b.im, a.re * b.im + a.im * b.re};
}
template <class T>
TCA_DEVICE Complex<T> operator*(T a, Complex<T> b) {
  return {a * b.re, a * b.im};
}
template <class T>
TCA_DEVICE Complex<T> conj(Complex<T> a) {
  return {a.re, -a.im};
}
template <class T>
TCA_DEVICE T norm(Complex<T> a) {
  return a.re * a.re + a.im * a.im;
}

template <class T>
struct Matrix {
  Complex<T> m[3][3];
};

template <class T>
TCA_DEVICE Matrix<T> identity() {
  Matrix<T> one{};
  for (int a = 0; a < 3; ++a) one.m[a][a].re = 1;
  return one;
}

template <class T>
TCA_DEVICE Matrix<T> operator+(const Matrix<T>& x, const Matrix<T>& y) {
  Matrix<T> sum;
  for (int a = 0; a < 3; ++a)
    for (int b = 0; b < 3; ++b) sum.m[a][b] = x.m[a][b] + y.m[a][b];
  return sum;
}

template <class T>
TCA_DEVICE Matrix<T> operator*(const Matrix<T>& x, const Matrix<T>& y) {
  Matrix<T> product;
  for (int a = 0; a < 3; ++a)
    for (int b = 0; b < 3; ++b)
      product.m[a][b] = x.m[a][0] * y.m[0][b] + x.m[a][1] * y.m[1][b] + x.m[a][2] * y.m[2][b];
  return product;
}

template <class T>
TCA_DEVICE Matrix<T> adjoint(const Matrix<T>& x) {
  Matrix<T> result;
  for (int a = 0; a < 3; ++a)
    for (int b = 0; b < 3; ++b) result.m[a][b] = conj(x.m[b][a]);
  return result;
}

template <class T>
TCA_DEVICE T real_trace(const Matrix<T>& x) {
  return x.m[0][0].re + x.m[1][1].re + x.m[2][2].re;
}

// Re tr(x y^dagger), without computing the other elements of the product.
template <class T>
TCA_DEVICE T real_trace_with_adjoint(const Matrix<T>& x, const Matrix<T>& y) {
  T sum = 0;
  for (int a = 0; a < 3; ++a)
    for (int b = 0; b < 3; ++b) sum += x.m[a][b].re * y.m[a][b].re + x.m[a][b].im * y.m[a][b].im;
  return sum;
}

// Sets the third row, which is the conjugate of the cross product of the other two in a special unitary
// matrix. `sign` is -1 for the negative of such a matrix, which a link at an antiperiodic boundary is.
template <class T>
TCA_DEVICE void restore_third_row(Matrix<T>& x, T sign = 1) {
  for (int b = 0; b < 3; ++b) {
    const int c = (b + 1) % 3, d = (b + 2) % 3;
    x.m[2][b] = sign * conj(x.m[0][c] * x.m[1][d] - x.m[0][d] * x.m[1][c]);
  }
}

// Returns how far x is from SU(3), squared: the largest squared modulus among the elements of x x^dagger - 1
// and of the third row's difference from what the others imply. Infinite if an element of x is not finite.
template <class T>
TCA_DEVICE T distance_from_su3(const Matrix<T>& x) {
  const Matrix<T> square = x * adjoint(x);
  Matrix<T> restored = x;
  restore_third_row(restored);
  T largest = 0;
  for (int a = 0; a < 3; ++a) {
    for (int b = 0; b < 3; ++b) {
      const T one = a == b ? T(1) : T(0);
      const T off = norm(square.m[a][b] - Complex<T>{one, 0}), row = norm(restored.m[a][b] - x.m[a][b]);
      if (!(off + row < T(INFINITY))) return T(INFINITY);  // also true for a NaN
      if (off > largest) largest = off;
      if (row > largest) largest = row;
    }
  }
  return largest;
}

}  // namespace tca::qcd
