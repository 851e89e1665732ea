// Compiles the puts between two ranks into the link that carries them.
#pragma once

#include <set>
#include <vector>

#include "fabric/fabric.hpp"
#include "fabric/shm/program.hpp"

namespace tca::shm {

// The puts of a chain between this rank and one partner.
struct Traffic {
  std::vector<const fabric::Put*> out, in;
};

// Shapes of puts that are walked together or in parts. They live as long as the fabric.
using Shapes = std::set<base::Shape>;

// Whether stores bypass the caches, if there are enough bytes for that.
enum class Nontemporal { never, if_faster, always };

// The copies and trials that the links of a program refer to.
struct Moves {
  std::vector<Copy> copies;
  std::vector<StoreModeTuner> trials;
  CountedCopies counted;
};

// Returns a link that is complete except for the addresses of its signals. Appends its copies and its trial
// to `moves`.
Link compile_link(int partner, const Traffic& traffic, bool guarded, Nontemporal nontemporal, Moves& moves,
                  Shapes& shapes);

}  // namespace tca::shm
