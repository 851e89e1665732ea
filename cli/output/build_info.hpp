// The commit, compiler and build type of this program.
#pragma once

namespace tca::tool {

const char* build_commit();    // short hash, "-dirty" with changes, "unknown" outside a checkout
const char* build_compiler();  // such as "GCC 12.2.0"
const char* build_type();      // such as "Release"; empty when none was set
bool built_with_hwloc();

}  // namespace tca::tool
