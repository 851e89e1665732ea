// How kernels are compiled.
#pragma once

#include <string>
#include <vector>

#include "driver/driver.hpp"
#include "driver/options.hpp"

namespace tca::xacc {

// The command that makes an object of kernels. Throws Fault where there is no nvcc.
std::vector<std::string> nvcc_command(const Options& options, const Home& home, const std::string& source,
                                      const std::string& object);

// What tells the kernels of a file from those of others, as part of a name.
std::string unit_of(const std::string& source);

}  // namespace tca::xacc
