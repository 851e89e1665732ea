// Types of numbers that are reduced, and how two of them are combined.
#pragma once

#include "runtime/runtime.hpp"

namespace tca::xacc {

// Of a xacc_type. Throws Error where that is no number.
DataType data_type(int type);
std::size_t bytes_of(int type);
// Of a xacc_operation.
raw::Operation operation_of(int type, int operation);

}  // namespace tca::xacc
