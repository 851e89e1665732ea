// What the build knows about itself.
#pragma once

namespace tca::tool {

const char* build_commit();    // short hash, "-dirty" with changes, "unknown" outside a checkout
const char* build_compiler();  // "GCC 12.2.0"
const char* build_type();      // "Release"; empty when none was set
bool built_with_hwloc();

}  // namespace tca::tool
