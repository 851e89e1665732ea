// Members of structures that directives distribute: `align s.a[i] with t[i]`. Every variable of the structure has an array of
// its own for the member, which is a symbol like any other with the name `c.a`.
#pragma once

#include "ir/program.hpp"

namespace tca::xacc {

// Finds the members that directives name, and makes one token of each place where a variable's is used.
void join_members(Program& program);

}  // namespace tca::xacc
