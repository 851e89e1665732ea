// Makes sure that the ranks agree on a collective before they commit it.
#pragma once

#include <string>
#include <string_view>

#include "coll/schedule.hpp"
#include "tca/world.hpp"

namespace tca::coll {

std::string_view to_string(CollectiveKind kind);

// Returns whether no number of elements or bytes in blocks of `count` elements, whichever way they go,
// overflows.
bool is_countable(std::int64_t count, int ranks, std::size_t element_bytes);

// Throws Error{refused}, with the same message on every rank, if requests or windows differ or do not fit
// the world or each other. Collective. `problem` is one that the caller has found on this rank, or empty.
// `chosen` is the algorithm that the caller would use.
void agree(World& world, const raw::Request& request, const Elements& elements, const std::string& problem,
           std::string_view chosen);

}  // namespace tca::coll
