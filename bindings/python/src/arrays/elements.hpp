// Types of elements: NumPy's names for them, the formats of Python's buffers, and the types that the library combines.
#pragma once

#include <nanobind/nanobind.h>

#include <cstddef>
#include <string>

#include "tca/types.hpp"

namespace opentca_python {

namespace nb = nanobind;

struct ElementType {
  std::size_t bytes = 1;
  std::string format = "B";                   ///< as the module struct writes it
  tca::DataType type = tca::DataType::other;  ///< `other` where the library cannot add two of them
};

/// The type as `typestr` of an array's interface has it, such as "<f8".
std::string type_string(const ElementType& element);

/// Reads a type's name ("f8", "float32", ...), which needs no NumPy, or anything that numpy.dtype understands. Throws
/// Error{invalid_argument} for elements that mean nothing to another process, such as references to objects.
ElementType element_type(nb::handle dtype);

}  // namespace opentca_python
