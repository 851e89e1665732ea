#include "base/combine.hpp"

#include <type_traits>

#include "tca/operations.hpp"

namespace tca::base {

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

template <class T, class Combine>
void apply_to_rows(void* into, std::size_t pitch, const void* from, std::size_t rows, std::size_t run) {
  using Value [[gnu::may_alias]] = T;
  auto* const to = static_cast<Value*>(into);
  const auto* const others = static_cast<const Value*>(from);
  if (run == 1) {  // a column
    TCA_INDEPENDENT
    for (std::size_t row = 0; row < rows; ++row)
      to[row * pitch] = Combine()(static_cast<T>(to[row * pitch]), static_cast<T>(others[row]));
    return;
  }
  for (std::size_t row = 0; row < rows; ++row)
    apply<T, Combine>(to + row * pitch, to + row * pitch, others + row * run, run);
}

template <class T, class Combine>
struct Flat {
  static constexpr CombineLoop loop = apply<T, Combine>;
};
template <class T, class Combine>
struct Rows {
  static constexpr CombineRows loop = apply_to_rows<T, Combine>;
};

// Returns the loop of one kind for a type and an operation.
template <template <class, class> class Kind, class T>
auto loop_for(ReduceOp op) {
  switch (op) {
    case ReduceOp::sum:
      return Kind<T, Sum>::loop;
    case ReduceOp::min:
      return Kind<T, Min>::loop;
    case ReduceOp::max:
      return Kind<T, Max>::loop;
    case ReduceOp::product:
      break;
  }
  return Kind<T, Product>::loop;
}

template <template <class, class> class Kind>
auto loop_for(DataType type, ReduceOp op) -> std::remove_cv_t<decltype(Kind<float, Sum>::loop)> {
  switch (type) {
    case DataType::float32:
      return loop_for<Kind, float>(op);
    case DataType::float64:
      return loop_for<Kind, double>(op);
    case DataType::int32:
      return loop_for<Kind, std::int32_t>(op);
    case DataType::int64:
      return loop_for<Kind, std::int64_t>(op);
    case DataType::long_double:
      return loop_for<Kind, long double>(op);
    case DataType::int8:
      return loop_for<Kind, std::int8_t>(op);
    case DataType::int16:
      return loop_for<Kind, std::int16_t>(op);
    case DataType::uint8:
      return loop_for<Kind, std::uint8_t>(op);
    case DataType::uint16:
      return loop_for<Kind, std::uint16_t>(op);
    case DataType::uint32:
      return loop_for<Kind, std::uint32_t>(op);
    case DataType::uint64:
      return loop_for<Kind, std::uint64_t>(op);
    case DataType::other:
      break;
  }
  return nullptr;
}

}  // namespace

CombineLoop combine_loop(DataType type, ReduceOp op) { return loop_for<Flat>(type, op); }
CombineRows combine_rows(DataType type, ReduceOp op) { return loop_for<Rows>(type, op); }

}  // namespace tca::base
