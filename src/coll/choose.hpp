// Which algorithm a collective takes: the one place that decides.
#pragma once

#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "coll/schedule.hpp"
#include "core/world_state.hpp"

namespace tca::coll {

// A way of running a collective. Names outlive it.
struct Candidate {
  std::string_view name;
  Algorithm make;  // null: the fabric's own kernels
  double predicted_us;
  bool for_fewer_bytes = false;  // than this, so that it is taken only when it is forced
};

// What an algorithm's rounds cost where the world runs; a put's cost is that of the route's table. Of a large block that
// goes in pieces it is that of one put.
struct Costs {
  Costs(const core::WorldState& world, std::size_t element_bytes);

  double put_us(int from, const Put& put) const;
  double work_us(int rank, const Round& round) const;      // without the latency
  double crossing_us(int rank, const Round& round) const;  // of it, what goes to other sub-clusters

  // Whether what one rank puts to the other leaves its sub-cluster.
  bool crosses(int from, int to) const {
    return sub_cluster[static_cast<std::size_t>(from)] != sub_cluster[static_cast<std::size_t>(to)];
  }

  const core::WorldState& world;
  std::size_t element_bytes;
  std::span<const int> sub_cluster;  // of each rank
  double latency_us;                 // of a round in which all ranks wait, whatever it carries
  int cores = 0;                     // that ranks share; 0: each has one of its own
};

// Every algorithm for this problem, the one to take first. The same on every rank.
std::vector<Candidate> candidates(const Problem& problem, const Costs& costs);

}  // namespace tca::coll
