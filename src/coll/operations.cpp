// The operations that the library provides, as loops that compilers vectorise.
#include <cstdint>
#include <type_traits>

#include "base/fail.hpp"
#include "tca/collective.hpp"

namespace tca::coll {

namespace {

// Tells the compiler that iterations do not depend on each other: `into` may be an operand, but never
// overlaps one otherwise.
#if defined(__clang__)
#define TCA_INDEPENDENT _Pragma("clang loop vectorize(assume_safety)")
#else
#define TCA_INDEPENDENT _Pragma("GCC ivdep")
#endif

template <class T, class F>
void apply(T* into, const T* left, const T* right, std::size_t count, F f) {
  TCA_INDEPENDENT
  for (std::size_t i = 0; i < count; ++i) into[i] = static_cast<T>(f(left[i], right[i]));
}

// Makes an integer unsigned, so that it wraps around on overflow. The unsigned type is at least as wide as
// int, because narrower ones would be combined as int and overflow there.
template <class T>
auto wrapping(T value) {
  if constexpr (std::is_integral_v<T>)
    return static_cast<std::make_unsigned_t<decltype(+value)>>(value);
  else
    return value;
}

template <class T>
struct Kernels {
  static void sum(T* into, const T* left, const T* right, std::size_t count) {
    apply(into, left, right, count, [](T a, T b) { return wrapping(a) + wrapping(b); });
  }
  static void min(T* into, const T* left, const T* right, std::size_t count) {
    apply(into, left, right, count, [](T a, T b) { return b < a ? b : a; });
  }
  static void max(T* into, const T* left, const T* right, std::size_t count) {
    apply(into, left, right, count, [](T a, T b) { return a < b ? b : a; });
  }
  static void product(T* into, const T* left, const T* right, std::size_t count) {
    apply(into, left, right, count, [](T a, T b) { return wrapping(a) * wrapping(b); });
  }
};

}  // namespace

template <class T>
Kernel<T> kernel_of(Op op) {
  switch (op) {
    case Op::sum:
      return Kernels<T>::sum;
    case Op::min:
      return Kernels<T>::min;
    case Op::max:
      return Kernels<T>::max;
    case Op::product:
      return Kernels<T>::product;
  }
  base::fail(Errc::invalid_argument, "operation {} is none of sum, min, max and product",
             static_cast<int>(op));
}

template Kernel<float> kernel_of<float>(Op);
template Kernel<double> kernel_of<double>(Op);
template Kernel<long double> kernel_of<long double>(Op);
template Kernel<char> kernel_of<char>(Op);
template Kernel<char8_t> kernel_of<char8_t>(Op);
template Kernel<char16_t> kernel_of<char16_t>(Op);
template Kernel<char32_t> kernel_of<char32_t>(Op);
template Kernel<wchar_t> kernel_of<wchar_t>(Op);
template Kernel<signed char> kernel_of<signed char>(Op);
template Kernel<unsigned char> kernel_of<unsigned char>(Op);
template Kernel<short> kernel_of<short>(Op);
template Kernel<unsigned short> kernel_of<unsigned short>(Op);
template Kernel<int> kernel_of<int>(Op);
template Kernel<unsigned> kernel_of<unsigned>(Op);
template Kernel<long> kernel_of<long>(Op);
template Kernel<unsigned long> kernel_of<unsigned long>(Op);
template Kernel<long long> kernel_of<long long>(Op);
template Kernel<unsigned long long> kernel_of<unsigned long long>(Op);

}  // namespace tca::coll
