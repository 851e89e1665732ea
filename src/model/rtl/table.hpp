// The descriptors of a chain as a hub reads them (rtl/README.md): 64 bytes each, linked by address.
#pragma once

#include <array>
#include <cstdint>
#include <vector>

#include "base/layout/shape.hpp"

namespace tca::rtl {

using Entry = std::array<std::uint64_t, 8>;
constexpr std::uint64_t entry_bytes = sizeof(Entry);
using Table = std::vector<Entry>;

// Appends the entries that move a shape. Loops that do not fit an entry are unrolled.
void add_copy(Table& table, const base::Shape& shape, std::uint64_t to, std::uint64_t from);

// Appends a flag after everything appended so far.
void add_flag(Table& table, std::uint64_t flag);

// Returns the table as placed at an address, with every entry but the last leading to the next.
Table linked(Table table, std::uint64_t address);

}  // namespace tca::rtl
