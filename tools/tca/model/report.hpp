// The report of `tca model`: a table for people, and a line in the format of docs/results.md.
#pragma once

#include <string>

#include "model/run.hpp"

namespace tca::tool {

void print_model(const ModelOptions& options, const ModelResult& result);

// Returns the line of a run. `point` says which point of a sweep it is; empty without a sweep.
std::string model_line(const ModelOptions& options, const ModelResult& result, const std::string& point);

// Print the table of a sweep, made of the lines above.
void print_sweep_header(const std::string& names);
void print_sweep_row(const std::string& point, const std::string& line);

}  // namespace tca::tool
