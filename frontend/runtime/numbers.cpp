#include "runtime/numbers.hpp"

namespace tca::xacc {
namespace {

struct Type {
  DataType type;
  std::size_t bytes;
};

Type type_of(int type) {
  static constexpr Type types[] = {
      {DataType::float32, 4}, {DataType::float64, 8}, {DataType::long_double, sizeof(long double)},
      {DataType::int8, 1},    {DataType::int16, 2},   {DataType::int32, 4},
      {DataType::int64, 8},   {DataType::uint8, 1},   {DataType::uint16, 2},
      {DataType::uint32, 4},  {DataType::uint64, 8}};
  if (type >= XACC_OTHER) refuse("elements of this type have no reductions: reduce numbers");
  return types[type];
}

template <class T>
raw::Combiner combiner_of(int operation) {
  const auto with = [](auto combine) {
    return [combine](void* into, const void* left, const void* right, std::size_t count) {
      for (std::size_t i = 0; i < count; ++i)
        static_cast<T*>(into)[i] = combine(static_cast<const T*>(left)[i], static_cast<const T*>(right)[i]);
    };
  };
  if (operation == XACC_AND) return with([](T a, T b) { return static_cast<T>(a && b); });
  if (operation == XACC_OR) return with([](T a, T b) { return static_cast<T>(a || b); });
  if constexpr (std::is_integral_v<T>) {
    if (operation == XACC_BIT_AND) return with([](T a, T b) { return static_cast<T>(a & b); });
    if (operation == XACC_BIT_OR) return with([](T a, T b) { return static_cast<T>(a | b); });
    if (operation == XACC_BIT_XOR) return with([](T a, T b) { return static_cast<T>(a ^ b); });
  }
  refuse("numbers with a fraction have no bits to combine");
}

}  // namespace

std::size_t bytes_of(int type) { return type_of(type).bytes; }

DataType data_type(int type) { return type_of(type).type; }

raw::Operation operation_of(int type, int operation) {
  switch (operation) {
    case XACC_SUM:
      return ReduceOp::sum;
    case XACC_PRODUCT:
      return ReduceOp::product;
    case XACC_MAX:
      return ReduceOp::max;
    case XACC_MIN:
      return ReduceOp::min;
    default:
      break;
  }
  switch (type_of(type).type) {
    case DataType::float32:
      return combiner_of<float>(operation);
    case DataType::float64:
      return combiner_of<double>(operation);
    case DataType::int8:
      return combiner_of<std::int8_t>(operation);
    case DataType::int16:
      return combiner_of<std::int16_t>(operation);
    case DataType::int32:
      return combiner_of<std::int32_t>(operation);
    case DataType::int64:
      return combiner_of<std::int64_t>(operation);
    case DataType::uint8:
      return combiner_of<std::uint8_t>(operation);
    case DataType::uint16:
      return combiner_of<std::uint16_t>(operation);
    case DataType::uint32:
      return combiner_of<std::uint32_t>(operation);
    case DataType::uint64:
      return combiner_of<std::uint64_t>(operation);
    default:
      refuse("elements of this type have no such reduction");
  }
}

}  // namespace tca::xacc
