// Layouts and grids are values in C, and made anew for C++ where a call takes one.
#pragma once

#include "c/calls.hpp"
#include "tca/grid.hpp"
#include "tca/layout.hpp"
#include "tca/tca.h"

namespace tca::c {

// Without `first`, which belongs to the place of the put. Throws Misuse and Error{invalid_argument}.
Layout layout_of(const tca_layout& layout);

Grid grid_of(const tca_grid& grid);

// Throws Misuse unless there are 1 to TCA_MAX_DIMS.
std::size_t dims_of(int dims);

}  // namespace tca::c
