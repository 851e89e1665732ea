// What `tca himeno` does as one rank.
#pragma once

#include <cstdint>
#include <string>

#include "himeno/problem.hpp"
#include "himeno_report.hpp"
#include "launch.hpp"
#include "tca/grid.hpp"
#include "tca/world.hpp"

namespace tca::tool {

struct HimenoOptions {
  int ranks = 1;
  std::string size = "S";
  std::string fabric = "shm";
  std::string machine{};  // of sim
  std::string start = "host";
  std::string grid = "auto";
  std::int64_t iterations = 0;
  double seconds = 0;
  bool no_overlap = false;
  bool unguarded = false;
  bool no_check = false;
  bool compare = false;
  bool threads = false;
  bool explain = false;
  std::string json;
  std::string trace;
  Bind bind = Bind::automatic;
};

inline bool on_gpus(const HimenoOptions& options) { return options.fabric == "cuda"; }

// Throws Error{invalid_argument} for a grid that cannot be read, does not hold the ranks or does not fit the array.
Grid make_himeno_grid(const HimenoOptions& options, const himeno::Problem& problem, int ranks);

// Collective.
HimenoReport solve_himeno(World& world, const HimenoOptions& options);

}  // namespace tca::tool
