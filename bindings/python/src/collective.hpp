#pragma once

#include <nanobind/nanobind.h>

#include <string_view>

#include "tca/types.hpp"

namespace opentca_python {

/// Reads the name of an operation. Throws Error{invalid_argument} for any other.
tca::ReduceOp reduce_op(std::string_view name);

void bind_collectives(nanobind::module_& module);

}  // namespace opentca_python
