// Elements of a type that is known when the program runs.
#pragma once

#include <complex>
#include <cstdint>

#include "runtime/runtime.hpp"

namespace tca::xacc {

// Calls body(zero) with a zero of the type. Throws Error where it is no number.
template <class Body>
void with_real_type(int type, Body body) {
  switch (type) {
    case XACC_FLOAT:
      return body(float());
    case XACC_DOUBLE:
      return body(double());
    case XACC_LONG_DOUBLE:
      return body(static_cast<long double>(0));
    case XACC_INT8:
      return body(std::int8_t());
    case XACC_INT16:
      return body(std::int16_t());
    case XACC_INT32:
      return body(std::int32_t());
    case XACC_INT64:
      return body(std::int64_t());
    case XACC_UINT8:
      return body(std::uint8_t());
    case XACC_UINT16:
      return body(std::uint16_t());
    case XACC_UINT32:
      return body(std::uint32_t());
    case XACC_UINT64:
      return body(std::uint64_t());
    default:
      refuse("elements of this type cannot be computed with: use numbers");
  }
}

// The same, and of complex numbers.
template <class Body>
void with_type(int type, Body body) {
  if (type == XACC_COMPLEX_FLOAT) return body(std::complex<float>());
  if (type == XACC_COMPLEX_DOUBLE) return body(std::complex<double>());
  with_real_type(type, body);
}

}  // namespace tca::xacc
