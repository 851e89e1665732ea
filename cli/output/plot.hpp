// Draws results with the script of `tca plot`.
#pragma once

#include <string>
#include <vector>

namespace tca::tool {

// Refuses a drawing that could not be made, because of its ending, its folder or a missing matplotlib. Called
// before what it shows is measured. An empty path means no drawing.
void check_drawable(const std::string& output);

// Returns the script's exit code. When that is not 0, one line on stderr has said what was wrong.
int draw(const std::vector<std::string>& files, const std::string& output, const std::string& title);

}  // namespace tca::tool
