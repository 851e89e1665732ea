// What ranks must have in common before they commit a collective.
#pragma once

#include <string>
#include <string_view>

#include "coll/schedule.hpp"
#include "tca/world.hpp"

namespace tca::coll {

std::string_view to_string(Kind kind);

// Collective. Throws Error{refused}, with the same message on every rank, when requests differ or do not fit the world or
// the windows. `problem` is one that the caller has found on this rank, or empty; `chosen` what it would take.
void agree(World& world, const Request& request, const Elements& elements, const std::string& problem,
           std::string_view chosen);

}  // namespace tca::coll
