// Assignments between sections that are shared out in any way.
#pragma once

#include "runtime/section.hpp"

namespace tca::xacc {

// Has every rank that executes get what it owns of the left side. Both have the same shape, or the right one is a
// single element. Throws Error.
void move(const Side& to, const Side& from);

}  // namespace tca::xacc
