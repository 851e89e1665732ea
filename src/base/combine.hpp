// Combines elements of the library's types by its operations, in loops that compilers vectorise.
#pragma once

#include <cstddef>

#include "tca/types.hpp"

namespace tca::base {

// Combines `count` elements: into = left op right. `into` may be either of them, but must not overlap them
// otherwise.
using CombineLoop = void (*)(void* into, const void* left, const void* right, std::size_t count);

// Null for elements of another type.
CombineLoop combine_loop(DataType type, ReduceOp op);

// Combines `rows` rows of `run` elements, `pitch` elements apart, with the same number of elements in a
// row: into = into op from. They do not overlap.
using CombineRows = void (*)(void* into, std::size_t pitch, const void* from, std::size_t rows,
                             std::size_t run);

// Null for elements of another type.
CombineRows combine_rows(DataType type, ReduceOp op);

}  // namespace tca::base
