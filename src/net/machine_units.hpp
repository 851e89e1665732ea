// The units that machine files may use, and what they are in the model's own: picoseconds, bytes, bytes a second, operations a
// second.
#pragma once

#include <optional>
#include <string>
#include <string_view>

namespace tca::net {

enum class Quantity { time, size, rate, operations, count };

// "a time", "a size", ... as messages say it.
std::string_view describe(Quantity quantity);

// The units of a quantity, "ps, ns, us, ms, s"; "none" for a count.
std::string units_of(Quantity quantity);

// What one `unit` is in the model's units; nothing when it is no unit of that quantity. A count has the unit "".
std::optional<double> factor(Quantity quantity, std::string_view unit);

// The quantity that a unit belongs to, for messages; nothing for an unknown one.
std::optional<Quantity> quantity_of(std::string_view unit);

}  // namespace tca::net
