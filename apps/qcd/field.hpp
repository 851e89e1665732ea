// Fields on a rank's sites, and the vector arithmetic of the solvers.
//
// A field holds the reals of one site for each site of its range and each right-hand side. The right-hand
// sides of a site are adjacent, so that the site's links are loaded once for all of them. Solvers use
// separate coefficients for each right-hand side.
#pragma once

#include <cstddef>
#include <new>
#include <span>
#include <vector>

#include "qcd/su3.hpp"

namespace tca::qcd {

// Aligns to cache lines, because SIMD vectors must not straddle them.
template <class T>
struct LineAllocator {
  using value_type = T;
  static constexpr std::align_val_t line{64};
  LineAllocator() = default;
  template <class U>
  LineAllocator(const LineAllocator<U>&) {}  // NOLINT: implicit, as allocators are converted
  T* allocate(std::size_t n) { return static_cast<T*>(::operator new(n * sizeof(T), line)); }
  void deallocate(T* p, std::size_t) { ::operator delete(p, line); }
  template <class U>
  bool operator==(const LineAllocator<U>&) const {
    return true;
  }
};

template <class T>
using Field = std::vector<T, LineAllocator<T>>;

// The dimensions of a field.
struct Shape {
  std::size_t sites = 0;
  std::size_t rhs = 1;    // right-hand sides
  std::size_t reals = 0;  // of a site and right-hand side
  std::size_t size() const { return sites * rhs * reals; }
};

using Numbers = std::vector<double>;  // one for each right-hand side
using Phases = std::vector<Complex<double>>;

// y = a x + y
template <class T>
void add_scaled(const Shape& shape, const Numbers& a, const Field<T>& x, Field<T>& y);
// y = x + a y
template <class T>
void scale_and_add(const Shape& shape, const Field<T>& x, const Numbers& a, Field<T>& y);
// y = a x + y with complex a
template <class T>
void add_scaled(const Shape& shape, const Phases& a, const Field<T>& x, Field<T>& y);
// y = x + a y with complex a
template <class T>
void scale_and_add(const Shape& shape, const Field<T>& x, const Phases& a, Field<T>& y);
// This rank's |x|^2 and conj(x) . y for each right-hand side, added up in double.
template <class T>
Numbers norms(const Shape& shape, const Field<T>& x);
template <class T>
Phases dots(const Shape& shape, const Field<T>& x, const Field<T>& y);
// z = x - y
template <class T>
void subtract(const Field<T>& x, const Field<T>& y, Field<T>& z);
// Converts to another precision.
template <class To, class From>
void convert(const Field<From>& from, Field<To>& to);

}  // namespace tca::qcd
