/// @file
/// The version of the headers, and that of the library that the program is linked with (`library_version`).
#pragma once

#include "tca/detail/api.hpp"
#include "tca/detail/language.hpp"

#define TCA_VERSION_MAJOR 0
#define TCA_VERSION_MINOR 1
#define TCA_VERSION_PATCH 0

namespace tca {

/// Returns for example "0.1.0".
TCA_API const char* library_version();

}  // namespace tca
