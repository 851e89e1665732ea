// Finds what translated programs need, installed or in the build.
#pragma once

#include "driver/driver.hpp"

namespace tca::xacc {

// Beside the running program where that is installed, and otherwise where the build put it.
Home find_home();

}  // namespace tca::xacc
