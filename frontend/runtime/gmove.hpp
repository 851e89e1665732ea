// Assignments between sections that are shared out in any way.
#pragma once

#include "runtime/section.hpp"

namespace tca::xacc {

// Has every rank that executes get what it owns of the left side. Both have the same shape, or the right one is a
// single element. Throws Error.
void move(const Side& to, const Side& from);

// The same of sides of one shape.
void move_together(const Side& to, const Side& from);
// The same by this rank alone: what it owns of the left side from ranks that need not execute this, and
// what it owns of the right one to such ranks. Those have given their arrays to be reached (xacc_array_share).
void move_in(const Side& to, const Side& from);
void move_out(const Side& to, const Side& from);

// Whether all ranks that have some of a side execute.
bool executed_by_all_of(const Side& side);

}  // namespace tca::xacc
