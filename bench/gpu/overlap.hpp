// What a computation loses while an exchange goes by.
#pragma once

#include "gpu/contenders.hpp"
#include "measure/measure_overlap.hpp"

namespace tca::bench::gpu {

// Three contenders that belong together: an exchange by itself, a computation by itself, and both at once, with the exchange on
// a stream of high priority beside that of the computation. As many puts go by, one after the other, as last some time, and the
// computation is a quarter longer than they are by themselves.
struct OverlapParts {
  Contenders parts;
  int puts = 1;
};

// Collective.
OverlapParts overlap_parts(World& world, std::unique_ptr<Passing> passing, bool of_memory);

// OpenTCA's puts to the next rank of a ring.
std::unique_ptr<Passing> chain_passing(World& world, std::size_t bytes, const Way& way);

}  // namespace tca::bench::gpu
