// Three components of a field at one place, and the numbers of which currents and charges are sums.
#pragma once

#include <cmath>
#include <cstdint>
#include <type_traits>

#include "tca/device/memory.hpp"

namespace tca::pic {

// Along x, y and z.
template <class Number>
struct Vec {
  Number x, y, z;

  friend TCA_DEVICE Vec operator+(const Vec& a, const Vec& b) { return {a.x + b.x, a.y + b.y, a.z + b.z}; }
};

// How far an array's next element is along y and z.
struct Steps {
  std::int64_t y, z;
};

// What a plasma's particles add to a node may be added up in two ways. Integers are multiples of 2^-52 of the undisturbed
// plasma's charge in a cell, up to 2048 times that: their sums are exact, so that no order of particles or ranks changes a
// bit. Doubles need no conversion, but their sums depend on the order.
template <class Number>
inline constexpr double units = 1;
template <>
inline constexpr double units<std::int64_t> = 4503599627370496.0;

// Takes a value that has been multiplied by `units`.
template <class Number>
TCA_DEVICE Number to_number(double value) {
  if constexpr (std::is_integral_v<Number>) {
    return std::llrint(value);
  } else {
    return value;
  }
}

template <class Number>
TCA_DEVICE double to_double(Number value) {
  return static_cast<double>(value) * (1 / units<Number>);
}

}  // namespace tca::pic
