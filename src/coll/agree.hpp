// What ranks must have in common before they commit a collective.
#pragma once

#include <string>
#include <string_view>

#include "coll/schedule.hpp"
#include "tca/world.hpp"

namespace tca::coll {

std::string_view to_string(Kind kind);

// Whether no number of elements or bytes overflows that blocks of `count` elements come to, whichever way they go.
bool is_countable(std::int64_t count, int ranks, std::size_t element_bytes);

// Collective. Throws Error{refused}, with the same message on every rank, when requests or windows differ, or do not fit
// the world or each other. `problem` is one that the caller has found on this rank, or empty; `chosen` what it would take.
void agree(World& world, const Request& request, const Elements& elements, const std::string& problem,
           std::string_view chosen);

}  // namespace tca::coll
