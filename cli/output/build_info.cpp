// The commit, compiler and build type of this program.
#include "cli/output/build_info.hpp"

#include "opentca_commit.hpp"

#ifndef OPENTCA_BUILD_TYPE
#define OPENTCA_BUILD_TYPE ""
#endif

namespace tca::tool {

const char* build_commit() { return OPENTCA_COMMIT; }

const char* build_compiler() {
#ifdef __clang__
  return "Clang " __clang_version__;
#else
  return "GCC " __VERSION__;
#endif
}

const char* build_type() { return OPENTCA_BUILD_TYPE; }

bool built_with_hwloc() {
#ifdef OPENTCA_HAVE_HWLOC
  return true;
#else
  return false;
#endif
}

}  // namespace tca::tool
