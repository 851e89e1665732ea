// A way of searching. Several take turns on the same graph when they are compared.
#pragma once

#include <cstdint>
#include <memory>
#include <span>
#include <vector>

#include "bfs/search.hpp"
#include "shared/message_cost.hpp"

namespace tca::bfs {

// How a level of a search was done, if its way knows.
struct LevelTime {
  bool is_from_below;
  std::int64_t reached;  // vertices, on all ranks
  double search_us;      // what this rank took
  double barrier_us;     // until all ranks were through
};

class Way {
 public:
  virtual ~Way() = default;

  // Prepares a search, outside of what is timed.
  virtual void prepare() {}

  // Collective. Finds all that can be reached from the root, and returns how many levels there are below it.
  virtual int run(Vertex root) = 0;

  // The result of the last run: for each own vertex its parent, or `nowhere`. Valid until the next one.
  virtual std::span<const Vertex> parents() = 0;

  // Leaves the ranks' processors to others until the next search.
  virtual void leave() {}

  // The time that the last run took by a clock of the way's own, in microseconds: a kernel's without its
  // launch. 0 where there is none.
  virtual double kernel_us() const { return 0; }

  // Of the last run, on this rank.
  virtual std::vector<LevelTime> level_times() { return {}; }

  // Collective. Searches from each root once more, in which each message is timed: on GPUs on the stream that the host
  // starts it on. Nothing is known of messages that a kernel sends by itself.
  virtual std::vector<apps::MessageCost> time_messages(std::span<const Vertex>) { return {}; }
};

// On hosts. All outlive the way.
std::unique_ptr<Way> host_way(World& world, Search& search, Exchange& exchange);

}  // namespace tca::bfs
