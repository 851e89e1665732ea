// `tca cg` as one rank.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "cg/cli/report.hpp"
#include "cg/problem.hpp"
#include "shared/cli/job.hpp"
#include "tca/grid.hpp"
#include "tca/world.hpp"

namespace tca::tool {

struct CgOptions : AppJob {
  std::string name = "S";  // of the class
  std::string grid = "auto";
  std::string order = "npb";
  std::string start = "auto";  // on GPUs
  int runs = 0;
};

// Returns the grid that the options ask for. Throws Error{invalid_argument} for a grid that cannot be read,
// does not hold the ranks or does not fit the matrix.
Grid make_cg_grid(const CgOptions& options, const cg::Problem& problem, int ranks);

// Returns the names of the messages that ranks divided by this grid send, and that have channels.
std::vector<std::string_view> cg_messages(const CgOptions& options, const cg::Problem& problem,
                                          const Grid& grid);

// Generates, solves and measures. Collective.
CgReport solve_cg(World& world, const CgOptions& options);

}  // namespace tca::tool
