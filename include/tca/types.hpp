/// @file
/// Element types, reductions, kinds of collectives and the slots of notices, as programs, fabrics and
/// kernels name them.
#pragma once

#include <cstddef>
#include <cstdint>
#include <type_traits>

#include "tca/detail/language.hpp"

namespace tca {

/// The element types that the library can combine: all of them on the host, the first four also on GPUs. Of
/// elements of any `other` type it knows only the size.
enum class DataType : std::uint8_t {
  float32,
  float64,
  int32,
  int64,
  long_double,
  int8,
  int16,
  uint8,
  uint16,
  uint32,
  uint64,
  other
};

/// Built-in reductions, the same on the host and in kernels:
///   - Integers wrap around where a sum or a product overflows.
///   - min and max of floating-point numbers are those of IEEE 754-2019: if any rank's value is NaN, every
///     rank gets NaN, and -0 is less than +0. They give the same bits whatever the algorithm.
enum class ReduceOp : std::uint8_t { sum, min, max, product };

/// The kinds of collectives.
enum class CollectiveKind : std::uint8_t {
  barrier,
  broadcast,
  all_gather,
  all_reduce,
  reduce_scatter,
  all_to_all
};

/// The slots in which a rank keeps the notices of another one (tca/post.hpp), and how many different tags may
/// wait in each at once.
inline constexpr int notice_slots = 256, notice_tags = 8;

/// Returns the DataType of a C++ type. Integers of the same size and signedness, such as long and long long
/// on Linux, have the same one.
template <class T>
constexpr DataType data_type_of() {
  if (std::is_same_v<T, float>) return DataType::float32;
  if (std::is_same_v<T, double>) return DataType::float64;
  if (std::is_same_v<T, long double>) return DataType::long_double;
  if (!std::is_integral_v<T> || std::is_same_v<T, bool>) return DataType::other;
  switch (sizeof(T)) {
    case 1:
      return std::is_signed_v<T> ? DataType::int8 : DataType::uint8;
    case 2:
      return std::is_signed_v<T> ? DataType::int16 : DataType::uint16;
    case 4:
      return std::is_signed_v<T> ? DataType::int32 : DataType::uint32;
    case 8:
      return std::is_signed_v<T> ? DataType::int64 : DataType::uint64;
    default:
      return DataType::other;
  }
}

/// Returns the bytes of an element; 0 for `other`, which has no size of its own.
constexpr std::size_t bytes_of(DataType type) {
  switch (type) {
    case DataType::int8:
    case DataType::uint8:
      return 1;
    case DataType::int16:
    case DataType::uint16:
      return 2;
    case DataType::float32:
    case DataType::int32:
    case DataType::uint32:
      return 4;
    case DataType::float64:
    case DataType::int64:
    case DataType::uint64:
      return 8;
    case DataType::long_double:
      return sizeof(long double);
    case DataType::other:
      break;
  }
  return 0;
}

}  // namespace tca
