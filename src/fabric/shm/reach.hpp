// Finds out by trial which ranks of a host reach each other's memory. Namespaces, users, mount options and
// filters decide that among them, and no list of such causes would be complete.
#pragma once

#include <memory>
#include <string>
#include <vector>

#include "control/control.hpp"
#include "control/shm/space.hpp"

namespace tca::shm {

struct Found {
  std::unique_ptr<Space> space;  // through which they reach it
  std::vector<Reach> attaches;   // by rank; empty if all do
  // For the first rank that cannot attach to another of its host: whose memory, why and what to do. Empty
  // if all can.
  std::string obstacle;

  bool both_ways(int rank, int other) const {
    const auto a = static_cast<std::size_t>(rank), b = static_cast<std::size_t>(other);
    return attaches[a][b] && attaches[b][a];
  }
};

// Collective. `host` holds the number of each rank's host. Throws Error{out_of_memory}.
Found find_reach(control::Control& control, const std::vector<int>& host);

// Returns the number of each rank's sub-cluster. The ranks of a host, in order, form sub-clusters of
// `at_most` ranks, or a single one if that is 0; these are divided further until all ranks of each reach
// one another.
std::vector<int> divide(const std::vector<int>& host, int at_most, const Found& found);

}  // namespace tca::shm
