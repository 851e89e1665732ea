// `tca himeno` as one rank.
#pragma once

#include <cstdint>
#include <span>
#include <string>
#include <string_view>

#include "himeno/cli/report.hpp"
#include "himeno/problem.hpp"
#include "shared/cli/job.hpp"
#include "tca/grid.hpp"
#include "tca/world.hpp"

namespace tca::tool {

struct HimenoOptions : AppJob {
  std::string size = "S";
  std::string start = "auto";
  std::string grid = "auto";
  std::int64_t iterations = 0;
  double seconds = 0;
  bool no_overlap = false;
  bool unguarded = false;
  bool no_check = false;
  std::string trace;
};

// Returns the grid that the options ask for. Throws Error{invalid_argument} for a grid that cannot be read,
// does not hold the ranks or does not fit the array.
Grid make_himeno_grid(const HimenoOptions& options, const himeno::Problem& problem, int ranks);

// Returns the names of the messages whose channel may be forced.
std::span<const std::string_view> himeno_messages(const HimenoOptions& options);

// Solves and measures. Collective.
HimenoReport solve_himeno(World& world, const HimenoOptions& options);

}  // namespace tca::tool
