// Measures what the commit of a chain costs, and how much of it is the fabric's own work.
#pragma once

#include <functional>
#include <vector>

#include "measure/measure.hpp"

namespace tca::bench {

struct CommitCosts {
  Samples whole_us;       // of the whole commit
  Samples fabric_us;      // of the fabric's compiling of the same share, by itself, and of telling each other
  Samples route_us;       // of the choice of channels, by itself
  std::size_t bytes = 0;  // that a rank sends in a step

  // Returns the commit less the fabric's work, round by round: the checks, the exchange of declarations and
  // the route.
  Samples beyond_us() const;
};

// Collective, in a world of one fabric. Every rank puts `descriptors` blocks, faces and columns in turn to
// its partner, rank ^ 1; with an odd number of ranks the last one puts to itself. The times are rank 0's,
// without the first call of each.
CommitCosts measure_commit(World& world, int descriptors, const std::string& channel, int rounds,
                           const std::function<void(int)>& progress);

}  // namespace tca::bench
