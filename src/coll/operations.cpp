// The operations that the library provides, as loops that compilers vectorise.
#include "tca/operations.hpp"

#include "coll/elements.hpp"

namespace tca::coll {

namespace {

// Tells the compiler that iterations do not depend on each other: `into` may be an operand, but never
// overlaps one otherwise.
#if defined(__clang__)
#define TCA_INDEPENDENT _Pragma("clang loop vectorize(assume_safety)")
#else
#define TCA_INDEPENDENT _Pragma("GCC ivdep")
#endif

// Types of one size, such as long and long long, share a loop, and so may be aliases here.
template <class T, class Combine>
void apply(void* into, const void* left, const void* right, std::size_t count) {
  using Value [[gnu::may_alias]] = T;
  auto* const to = static_cast<Value*>(into);
  const auto *const a = static_cast<const Value*>(left), *const b = static_cast<const Value*>(right);
  TCA_INDEPENDENT
  for (std::size_t i = 0; i < count; ++i) to[i] = Combine()(static_cast<T>(a[i]), static_cast<T>(b[i]));
}

template <class T>
Loop loop_of(ReduceOp op) {
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
  return nullptr;
}

}  // namespace

Loop loop_of(DataType type, ReduceOp op) {
  switch (type) {
    case DataType::float32:
      return loop_of<float>(op);
    case DataType::float64:
      return loop_of<double>(op);
    case DataType::int32:
      return loop_of<std::int32_t>(op);
    case DataType::int64:
      return loop_of<std::int64_t>(op);
    case DataType::long_double:
      return loop_of<long double>(op);
    case DataType::int8:
      return loop_of<std::int8_t>(op);
    case DataType::int16:
      return loop_of<std::int16_t>(op);
    case DataType::uint8:
      return loop_of<std::uint8_t>(op);
    case DataType::uint16:
      return loop_of<std::uint16_t>(op);
    case DataType::uint32:
      return loop_of<std::uint32_t>(op);
    case DataType::uint64:
      return loop_of<std::uint64_t>(op);
    case DataType::other:
      break;
  }
  return nullptr;
}

}  // namespace tca::coll
