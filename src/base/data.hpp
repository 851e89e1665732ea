// Where OpenTCA finds the files that come with it: machines, and the script that draws.
#pragma once

#include <filesystem>
#include <vector>

namespace tca::base {

// Where the file or folder may lie that is called `name` in share/opentca and `in_sources` in the source tree, to be looked
// for in this order: beside the program that runs, in ../share/opentca; where OpenTCA is installed; and in its sources, which
// come before that for a program of this very build.
std::vector<std::filesystem::path> data_places(const std::filesystem::path& name,
                                               const std::filesystem::path& in_sources);

}  // namespace tca::base
