#include "qcd/field.hpp"

#include <algorithm>

namespace tca::qcd {
namespace {

// Calls visit(x, y, right-hand side) with pointers to the first real of each site, for all sites and
// right-hand sides.
template <class X, class Y, class Visit>
void for_each_part(const Shape& shape, X* x, Y* y, const Visit& visit) {
  for (std::size_t site = 0; site < shape.sites; ++site) {
    for (std::size_t r = 0; r < shape.rhs; ++r) {
      visit(x, y, r);
      x += shape.reals;
      y += shape.reals;
    }
  }
}

// A sum has this many partial sums, which the compiler keeps in registers.
constexpr std::size_t lanes = 2;

}  // namespace

template <class T>
void add_scaled(const Shape& shape, const Numbers& a, const Field<T>& x, Field<T>& y) {
  for_each_part(shape, x.data(), y.data(), [&](const T* from, T* to, std::size_t r) {
    const T factor = static_cast<T>(a[r]);
    for (std::size_t i = 0; i < shape.reals; ++i) to[i] += factor * from[i];
  });
}

template <class T>
void scale_and_add(const Shape& shape, const Field<T>& x, const Numbers& a, Field<T>& y) {
  for_each_part(shape, x.data(), y.data(), [&](const T* from, T* to, std::size_t r) {
    const T factor = static_cast<T>(a[r]);
    for (std::size_t i = 0; i < shape.reals; ++i) to[i] = from[i] + factor * to[i];
  });
}

template <class T>
void add_scaled(const Shape& shape, const Phases& a, const Field<T>& x, Field<T>& y) {
  for_each_part(shape, x.data(), y.data(), [&](const T* from, T* to, std::size_t r) {
    const T re = static_cast<T>(a[r].re), im = static_cast<T>(a[r].im);
    for (std::size_t i = 0; i < shape.reals; i += 2) {
      to[i] += re * from[i] - im * from[i + 1];
      to[i + 1] += re * from[i + 1] + im * from[i];
    }
  });
}

template <class T>
void scale_and_add(const Shape& shape, const Field<T>& x, const Phases& a, Field<T>& y) {
  for_each_part(shape, x.data(), y.data(), [&](const T* from, T* to, std::size_t r) {
    const T re = static_cast<T>(a[r].re), im = static_cast<T>(a[r].im);
    for (std::size_t i = 0; i < shape.reals; i += 2) {
      const T old = to[i];
      to[i] = from[i] + re * old - im * to[i + 1];
      to[i + 1] = from[i + 1] + re * to[i + 1] + im * old;
    }
  });
}

template <class T>
Numbers norms(const Shape& shape, const Field<T>& x) {
  Numbers sums(shape.rhs, 0);
  for_each_part(shape, x.data(), x.data(), [&](const T* from, const T*, std::size_t r) {
    double sum[lanes] = {};
    for (std::size_t i = 0; i < shape.reals; i += lanes)
      for (std::size_t lane = 0; lane < lanes; ++lane) {
        const double value = from[i + lane];
        sum[lane] += value * value;
      }
    sums[r] += sum[0] + sum[1];
  });
  return sums;
}

template <class T>
Phases dots(const Shape& shape, const Field<T>& x, const Field<T>& y) {
  Phases sums(shape.rhs, {0, 0});
  for_each_part(shape, x.data(), y.data(), [&](const T* a, const T* b, std::size_t r) {
    double re = 0, im = 0;
    for (std::size_t i = 0; i < shape.reals; i += 2) {
      const double are = a[i], aim = a[i + 1], bre = b[i], bim = b[i + 1];
      re += are * bre + aim * bim;
      im += are * bim - aim * bre;
    }
    sums[r] = sums[r] + Complex<double>{re, im};
  });
  return sums;
}

template <class T>
void subtract(const Field<T>& x, const Field<T>& y, Field<T>& z) {
  for (std::size_t i = 0; i < z.size(); ++i) z[i] = x[i] - y[i];
}

template <class To, class From>
void convert(const Field<From>& from, Field<To>& to) {
  std::transform(from.begin(), from.end(), to.begin(), [](From value) { return static_cast<To>(value); });
}

#define TCA_QCD_FIELD(T)                                                                 \
  template void add_scaled(const Shape&, const Numbers&, const Field<T>&, Field<T>&);    \
  template void scale_and_add(const Shape&, const Field<T>&, const Numbers&, Field<T>&); \
  template void add_scaled(const Shape&, const Phases&, const Field<T>&, Field<T>&);     \
  template void scale_and_add(const Shape&, const Field<T>&, const Phases&, Field<T>&);  \
  template Numbers norms(const Shape&, const Field<T>&);                                 \
  template Phases dots(const Shape&, const Field<T>&, const Field<T>&);                  \
  template void subtract(const Field<T>&, const Field<T>&, Field<T>&)
TCA_QCD_FIELD(float);
TCA_QCD_FIELD(double);
#undef TCA_QCD_FIELD
template void convert(const Field<float>&, Field<double>&);
template void convert(const Field<double>&, Field<float>&);

}  // namespace tca::qcd
