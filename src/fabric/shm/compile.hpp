// From the puts between two ranks to the link that carries them.
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

// Of puts that are walked together or in parts; they live as long as the fabric.
using Shapes = std::set<base::Shape>;

// Whether stores go past the caches, where there are enough of them.
enum class Nontemporal { never, if_faster, always };

// What the links of a program refer to.
struct Moves {
  std::vector<Copy> copies;
  std::vector<StoreTrial> trials;
};

// Everything of a link but where its signals are. Appends its moves.
Link compile_link(int partner, const Traffic& traffic, bool guarded, Nontemporal nontemporal, Moves& moves,
                  Shapes& shapes);

}  // namespace tca::shm
