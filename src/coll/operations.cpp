// The operations that the library provides, as loops that compilers vectorise.
#include "tca/operations.hpp"

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

template <class T, class Combine>
void apply(T* into, const T* left, const T* right, std::size_t count) {
  TCA_INDEPENDENT
  for (std::size_t i = 0; i < count; ++i) into[i] = Combine()(left[i], right[i]);
}

}  // namespace

template <class T>
Kernel<T> kernel_of(ReduceOp op) {
  switch (op) {
    case ReduceOp::sum:
      return apply<T, Sum>;
    case ReduceOp::min:
      return apply<T, Min>;
    case ReduceOp::max:
      return apply<T, Max>;
    case ReduceOp::product:
      return apply<T, Product>;
  }
  base::fail(Errc::invalid_argument, "operation {} is none of sum, min, max and product",
             static_cast<int>(op));
}

template Kernel<float> kernel_of<float>(ReduceOp);
template Kernel<double> kernel_of<double>(ReduceOp);
template Kernel<long double> kernel_of<long double>(ReduceOp);
template Kernel<char> kernel_of<char>(ReduceOp);
template Kernel<char8_t> kernel_of<char8_t>(ReduceOp);
template Kernel<char16_t> kernel_of<char16_t>(ReduceOp);
template Kernel<char32_t> kernel_of<char32_t>(ReduceOp);
template Kernel<wchar_t> kernel_of<wchar_t>(ReduceOp);
template Kernel<signed char> kernel_of<signed char>(ReduceOp);
template Kernel<unsigned char> kernel_of<unsigned char>(ReduceOp);
template Kernel<short> kernel_of<short>(ReduceOp);
template Kernel<unsigned short> kernel_of<unsigned short>(ReduceOp);
template Kernel<int> kernel_of<int>(ReduceOp);
template Kernel<unsigned> kernel_of<unsigned>(ReduceOp);
template Kernel<long> kernel_of<long>(ReduceOp);
template Kernel<unsigned long> kernel_of<unsigned long>(ReduceOp);
template Kernel<long long> kernel_of<long long>(ReduceOp);
template Kernel<unsigned long long> kernel_of<unsigned long long>(ReduceOp);

}  // namespace tca::coll
