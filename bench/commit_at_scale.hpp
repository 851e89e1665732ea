// Measures what the commit of a halo costs this host in a large modelled world, in time and in memory.
#pragma once

#include <cstdint>
#include <string>

#include "tca/world.hpp"

namespace tca::bench {

// Of all ranks together, which take turns on one thread. Seconds are of processor time.
struct CommitAtScale {
  double up_s = 0;                 // until every rank has its world
  double made_s = 0;               // until every rank has made its halo and its window, before the commit
  double commit_s = 0;             // the commit
  double whole_s = 0;              // everything, the end of the world included
  std::uint64_t sent = 0;          // bytes that a rank sends in a step
  std::uint64_t commit_bytes = 0;  // that are allocated for the committed halos
  std::uint64_t whole_bytes = 0;   // by which the process had grown at most, stacks included
};

// Runs `ranks` ranks on a modelled machine. Each commits a halo of a small cube, with edges and corners, in a periodic
// grid: 26 puts to as many neighbours, where each side of the grid has three ranks or more.
CommitAtScale measure_commit_at_scale(int ranks, const WorldOptions& options);

}  // namespace tca::bench
