// Accepts what people type who are used to mpirun, and suggests what they may have meant.
#pragma once

#include <CLI/CLI.hpp>
#include <string>
#include <vector>

namespace tca::tool {

// Returns the command line without its first word, from the last to the first as CLI11 takes it. mpirun's -np
// becomes -n, though not behind the name of a program that `tca run` is to start.
std::vector<std::string> arguments_in_reverse(const CLI::App& tca, int argc, char** argv);

// Returns why an option is refused that the (sub)command does not have.
std::string unknown_option(const CLI::App& command, const std::string& option);

}  // namespace tca::tool
