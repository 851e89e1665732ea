// Finds the files that come with OpenTCA: the machine files and the plotting script.
#pragma once

#include <filesystem>
#include <vector>

namespace tca::base {

// Returns the paths at which a file or folder may be, in the order in which the caller should try them. It
// is called `name` in share/opentca, and `in_sources` in the source tree. The order is: ../share/opentca
// relative to the running program; the installation; the source tree. A program from this very build
// prefers the source tree to the installation.
std::vector<std::filesystem::path> data_places(const std::filesystem::path& name,
                                               const std::filesystem::path& in_sources);

}  // namespace tca::base
