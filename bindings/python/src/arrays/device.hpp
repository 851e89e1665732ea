// Steps on streams of a GPU, arrays in its memory, and what kernels take.
#pragma once

#include <nanobind/nanobind.h>

#include <optional>
#include <string>

#include "membership.hpp"
#include "tca/stream.hpp"

namespace opentca_python {

namespace nb = nanobind;

/// The stream that a step is ordered on; nothing for one that the host orders. None is the current stream of the world's
/// array library where windows lie on GPUs, and the host elsewhere.
std::optional<tca::Stream> stream_of(const Place& place, nb::handle given);

/// Makes the GPU that a window lies on the current one of the array libraries.
void use_device_of(const void* address);

/// A window's part as an array of the world's array library.
nb::object device_array(const Place& place, nb::handle window);

/// A struct that kernels take, as bytes.
template <class Struct>
nb::bytes bytes_of(const Struct& device) {
  return nb::bytes(reinterpret_cast<const char*>(&device), sizeof device);
}

void bind_teams(nb::module_& module);

}  // namespace opentca_python
