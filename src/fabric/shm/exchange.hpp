// Collective calls by which every rank allocates a region and attaches to those of the others.
#pragma once

#include <span>
#include <string_view>
#include <vector>

#include "fabric/control.hpp"
#include "fabric/shm/space.hpp"

namespace tca::shm {

// By rank: whether this rank attaches to its memory.
using Reach = std::vector<bool>;

// Collective. Allocates `bytes` here and maps what the ranks in `reach` have allocated. Returns the
// mappings by rank; that of a rank outside `reach`, or that wanted no memory, is empty. Throws
// Error{out_of_memory} on every rank when one could not allocate. `what` names the call in messages.
std::vector<Mapping> allocate_all(Space& space, fabric::Control& control, std::size_t bytes, Backing backing,
                                  const Reach& reach, std::string_view what);

// As `allocate_all`, for a rank that brings memory of its own, where the space reaches that. Other ranks may
// call `allocate_all` meanwhile.
std::vector<Mapping> adopt_all(Space& space, fabric::Control& control, std::span<std::byte> existing,
                               const Reach& reach, std::string_view what);

}  // namespace tca::shm
