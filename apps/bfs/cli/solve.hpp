// `tca bfs` as one rank.
#pragma once

#include <string>

#include "bfs/cli/report.hpp"
#include "cli/launch/rank_job.hpp"
#include "tca/world.hpp"

namespace tca::tool {

struct BfsOptions : RankJob {
  int scale = 15;
  std::string style = "packed";
  int roots = 64;
  bool validate = false;
  bool explain = false;
  std::string json;
};

// Generates, constructs, searches and measures. Collective.
BfsReport solve_bfs(World& world, const BfsOptions& options);

}  // namespace tca::tool
