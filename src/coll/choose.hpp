// Chooses which schedule of chains runs a collective. If a fabric's own kernels can run all of it, State
// prefers these, whatever they cost.
#pragma once

#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "coll/schedule.hpp"
#include "core/world/world_state.hpp"

namespace tca::coll {

// A way of running a collective. Its name outlives it.
struct Candidate {
  std::string_view name;
  Algorithm make;  // null if the fabric's own kernels run it
  double predicted_us;
  bool for_fewer_bytes = false;  // meant for fewer bytes, so used only if forced
};

// What the rounds of an algorithm cost. A large block that is sent in pieces is priced as a single put.
struct Costs {
  Costs(std::size_t bytes, std::span<const int> sub_clusters)
      : element_bytes(bytes), sub_cluster(sub_clusters) {}
  virtual ~Costs() = default;

  virtual double put_us(int from, const Put& put) const = 0;

  double work_us(int rank, const Round& round) const;      // without the latency
  double crossing_us(int rank, const Round& round) const;  // the part of it that goes to other sub-clusters

  // Returns whether puts from one rank to the other leave the sub-cluster.
  bool crosses(int from, int to) const {
    return sub_cluster[static_cast<std::size_t>(from)] != sub_cluster[static_cast<std::size_t>(to)];
  }

  std::size_t element_bytes;
  std::span<const int> sub_cluster;  // by rank
  double latency_us = 0.1;           // of a round in which all ranks wait, whatever is sent
  int cores = 0;                     // shared by the ranks; 0 if each has a core of its own
};

// The costs in a world: those of the route's table.
class WorldCosts final : public Costs {
 public:
  WorldCosts(const core::WorldState& world, std::size_t element_bytes);
  double put_us(int from, const Put& put) const override;

 private:
  const core::WorldState& world_;
};

// Returns whether a name refers to an algorithm: its own name, or a former one.
bool is_called(std::string_view algorithm, std::string_view name);

// Returns every algorithm for this problem, the preferred one first; the same on every rank.
std::vector<Candidate> candidates(const Problem& problem, const Costs& costs);

}  // namespace tca::coll
