// The units that machine files may use, and their conversion into the model's own: picoseconds, bytes, bytes
// per second, operations per second.
#pragma once

#include <optional>
#include <string>
#include <string_view>

namespace tca::net {

enum class Quantity { time, size, rate, operations, count };

// Returns "a time", "a size", ... for messages.
std::string_view describe(Quantity quantity);

// Returns the units of a quantity, as in "ps, ns, us, ms, s"; "none" for a count.
std::string units_of(Quantity quantity);

// Returns one `unit` in the model's units; nothing if it is not a unit of that quantity. The unit of a
// count is "".
std::optional<double> factor(Quantity quantity, std::string_view unit);

// Returns the quantity that a unit belongs to, for messages; nothing for an unknown unit.
std::optional<Quantity> quantity_of(std::string_view unit);

}  // namespace tca::net
