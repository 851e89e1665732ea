// Errors of the library as exceptions of Python, and the other way round.
#pragma once

#include <nanobind/nanobind.h>

#include <optional>

#include "tca/error.hpp"

namespace opentca_python {

namespace nb = nanobind;

/// Makes every tca::Error that a call throws an exception of opentca.errors, with its fields as attributes.
void translate_errors();

/// The library's error that an exception of Python stands for; nothing for others.
std::optional<tca::Error> library_error(const nb::python_error& error);

}  // namespace opentca_python
