// `tca bfs` as one rank.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "bfs/cli/report.hpp"
#include "bfs/search.hpp"
#include "shared/cli/job.hpp"
#include "tca/world.hpp"

namespace tca::tool {

struct BfsOptions : AppJob {
  int scale = 15;
  std::string style = "packed";
  std::string start = "auto";  // on GPUs
  int roots = 64;
  bool validate = false;
};

// Returns the names of the messages of this --messages.
std::vector<std::string_view> bfs_messages(const std::string& style);

// Generates, constructs, searches and measures. Collective.
BfsReport solve_bfs(World& world, const BfsOptions& options);

}  // namespace tca::tool
