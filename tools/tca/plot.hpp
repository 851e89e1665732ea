// Drawing results with the script of `tca plot`.
#pragma once

#include <string>
#include <vector>

namespace tca::tool {

// Refuses a drawing that could not be made, before what it shows is measured: its ending, its folder, no matplotlib here. An
// empty path is no drawing.
void check_drawable(const std::string& output);

// Returns the script's exit code; one line on stderr has said what was wrong when that is not 0.
int draw(const std::vector<std::string>& files, const std::string& output, const std::string& title);

}  // namespace tca::tool
