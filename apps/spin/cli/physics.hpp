// What `tca spin` says of the spins: their energies, and whether they are what they must be.
#pragma once

#include <string>

#include "cli/output/record.hpp"
#include "spin/cli/report.hpp"
#include "spin/problem.hpp"

namespace tca::tool {

std::string describe_temperatures(const spin::Problem& problem);  // "beta 1", "temperatures 0.5 to 1"

void print_physics(const SpinReport& report);

// Adds the energies, and those that are known.
void add_physics(const SpinReport& report, Record& record);

}  // namespace tca::tool
