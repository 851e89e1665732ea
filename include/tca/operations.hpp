/// @file
/// Built-in reduction operators as function objects, for the host and for kernels: the same four as in
/// ReduceOp, with the same bits everywhere. BlockTeam::allreduce takes one of them, or a function object of
/// the program's own.
///
/// Integers wrap around where a sum or a product overflows. Min and Max of floating-point numbers are
/// `minimum` and `maximum` of IEEE 754-2019: NaN if either value is, and -0 is less than +0. So their result
/// does not depend on the order in which values are combined. Use them also to combine a rank's own values
/// before a reduction, because std::max and std::fmax lose a NaN.
#pragma once

#include <cmath>
#include <cstring>
#include <type_traits>

#include "tca/device/memory.hpp"

namespace tca {

namespace device {

// Makes an integer unsigned, so that it wraps around on overflow. The unsigned type is at least as wide as
// int, because narrower ones would be combined as int and overflow there.
template <class T>
TCA_DEVICE auto wrapping(T value) {
  if constexpr (std::is_integral_v<T>)
    return static_cast<std::make_unsigned_t<decltype(+value)>>(value);
  else
    return value;
}

// Takes two equal numbers and returns the negative one if there is one: they differ only if they are zeros of
// both signs. Compilers vectorise operations on bits, but not signbit.
template <class T>
TCA_DEVICE T negative_of(T a, T b) {
  if constexpr (sizeof(T) > sizeof(std::uint64_t)) {
    return std::signbit(a) ? a : b;
  } else {
    std::conditional_t<sizeof(T) == 4, std::uint32_t, std::uint64_t> bits, others;
    static_assert(sizeof bits == sizeof(T));
    memcpy(&bits, &a, sizeof(T));
    memcpy(&others, &b, sizeof(T));
    bits |= others;
    memcpy(&a, &bits, sizeof(T));
    return a;
  }
}

// Always the same NaN: the bits of the first NaN would depend on the order.
template <class T>
TCA_DEVICE T unless_nan(T a, T b, T result) {
  return ((a == a) & (b == b)) ? result : static_cast<T>(NAN);  // && would be a branch
}

}  // namespace device

struct Sum {
  template <class T>
  TCA_DEVICE T operator()(T a, T b) const {
    return static_cast<T>(device::wrapping(a) + device::wrapping(b));
  }
};
struct Min {
  template <class T>
  TCA_DEVICE T operator()(T a, T b) const {
    const T left = b < a ? b : a;
    if constexpr (std::is_floating_point_v<T>) {
      const T right = a < b ? a : b;
      return device::unless_nan(a, b, device::negative_of(left, right));
    } else {
      return left;
    }
  }
};
struct Max {
  template <class T>
  TCA_DEVICE T operator()(T a, T b) const {
    const T left = a < b ? b : a;
    if constexpr (std::is_floating_point_v<T>) {
      const T right = b < a ? a : b;
      return device::unless_nan(a, b, -device::negative_of(-left, -right));
    } else {
      return left;
    }
  }
};
struct Product {
  template <class T>
  TCA_DEVICE T operator()(T a, T b) const {
    return static_cast<T>(device::wrapping(a) * device::wrapping(b));
  }
};

}  // namespace tca
