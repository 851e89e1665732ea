// Attaching to a region of every rank.
#pragma once

#include <span>
#include <string_view>
#include <vector>

#include "fabric/control.hpp"
#include "fabric/shm/space.hpp"

namespace tca::shm {

// By rank: whether this one attaches to its memory.
using Reach = std::vector<bool>;

// Collective: allocates `bytes` here, announces them and maps those of the ranks in `reach`; by rank, with an empty mapping for
// others and for a rank that wanted none. Throws Error{out_of_memory} on every rank when one could not allocate. `what`
// names the step in messages.
std::vector<Mapping> allocate_all(Space& space, fabric::Control& control, std::size_t bytes, Backing backing,
                                  const Reach& reach, std::string_view what);

// The same for a rank that brings memory of its own, where the space reaches such; other ranks may call the one above.
std::vector<Mapping> adopt_all(Space& space, fabric::Control& control, std::span<std::byte> existing,
                               const Reach& reach, std::string_view what);

}  // namespace tca::shm
