// Where the ranks of a measurement run, and how far from each other.
#pragma once

#include <string>
#include <vector>

#include "tca/world.hpp"

namespace tca::bench {

// Where a rank may run.
struct Place {
  int host = 0;        // the same number on the same host
  int processors = 1;  // how many it may run on
  int first = 0;       // the lowest of them, and what that belongs to:
  int core = 0;
  int cache = 0;  // the last-level one, named by its lowest processor
  int socket = 0;
};

// Returns where this process may run.
Place own_place();

// Describes the places of all ranks, in order: "2 ranks, bound to processors 0 and 1: 2 cores, 1 last-level
// cache, 1 socket".
std::string describe(const std::vector<Place>& ranks);

// Returns how many processors the ranks have between them.
int processors_of(const std::vector<Place>& ranks);

// Collective. Returns the places of the world's ranks.
std::vector<Place> places(World& world);

// Collective. Describes the places of the world's ranks and adds, where the fabric has measured it, how long a
// cache line takes from rank to rank: cores of a virtual machine may be further apart than it says they are.
std::string placement(World& world);

}  // namespace tca::bench
