// Decides on which processors the ranks of a launch run.
#pragma once

#include <string>
#include <vector>

#include "cli/launch/cores.hpp"
#include "cli/launch/fd.hpp"

namespace tca::tool {

enum class Bind {
  automatic,  // a core for each rank where that helps, otherwise none
  core,       // a core for each rank, starting over when there are fewer cores
  none,
};

// What is known of the host when ranks are placed.
struct Host {
  std::vector<Cpu> cpus;   // that this process may use, the first hardware thread of each core first
  std::vector<int> taken;  // those of them to which processes of others are bound, in ascending order
  double allowed;          // processors' worth of time that the cgroups allow
  std::string threads =
      {};  // how the user asks for threads in each rank, as "OMP_NUM_THREADS=4"; may be empty
};
Host look_at_host();

struct Placement {
  std::vector<int> cpus = {};  // by rank; empty where ranks are not bound
  std::string why = {};        // they are not, or share processors; may be empty

  bool binds() const { return !cpus.empty(); }

  // Returns what was done, as "ranks 0 to 3 on processors 8 to 11" or "not bound: ...".
  std::string describe() const;
};
Placement place(Bind bind, int ranks, const Host& host);

// Keeps other launches from placing their ranks between this one's look at the host and the moment when its
// ranks are bound. Ranks that are forked meanwhile hold it until their program runs.
class PlacementTurn {
 public:
  PlacementTurn();

 private:
  Fd lock_;
};

}  // namespace tca::tool
