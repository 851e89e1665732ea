// What the commit of a chain costs, and how much of it is the fabric's own work.
#pragma once

#include <functional>
#include <vector>

#include "measure.hpp"

namespace tca::bench {

struct CommitCosts {
  Samples whole_us;       // of the commit
  Samples fabric_us;      // of the fabric compiling the same share, by itself
  Samples route_us;       // of choosing the channels, by itself
  std::size_t bytes = 0;  // that a rank sends in a step

  // The checks, the exchange of declarations and the route: the commit less the fabric's work, round by round.
  Samples beyond_us() const;
};

// Collective, in a world of one fabric. Every rank puts `descriptors` blocks, faces and columns in turn to its partner,
// rank ^ 1; the last of an odd number to itself. The times are rank 0's, after a round that does not count.
CommitCosts measure_commit(World& world, int descriptors, const std::string& route, int rounds,
                           const std::function<void(int)>& progress);

}  // namespace tca::bench
