// Slices of arrays as layouts of puts.
#pragma once

#include <nanobind/nanobind.h>

#include <cstdint>
#include <string>
#include <utility>
#include <vector>

#include "tca/layout.hpp"

namespace opentca_python {

namespace nb = nanobind;

/// Elements of a window as an array: the first one, and for each axis how many there are and how far apart, in elements.
struct Geometry {
  std::int64_t offset = 0;
  std::vector<std::int64_t> shape;
  std::vector<std::int64_t> strides;

  std::int64_t elements() const;
};

/// A whole row-major array.
Geometry whole(std::vector<std::int64_t> shape);

/// Takes a part as an array's index does: integers, slices and an ellipsis. Raises IndexError as NumPy does.
Geometry indexed(const Geometry& array, nb::handle index);

/// The layouts of a put from one array to another, each from the array's first element. Axes of one element are left out on
/// either side, as NumPy's assignment does. Throws Error{invalid_argument}, which names the axis, where shapes differ or
/// elements are not in up to three loops of ascending addresses.
std::pair<tca::Layout, tca::Layout> layouts(const Geometry& to, const Geometry& from);

/// The shape as Python writes it: "(3, 4)".
std::string describe(const std::vector<std::int64_t>& shape);

}  // namespace opentca_python
