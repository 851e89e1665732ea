// Where this machine's tuning table is kept, which of them may serve, and how all ranks of a world come to the same one.
#pragma once

#include <ctime>
#include <filesystem>
#include <string>

#include "fabric/control.hpp"
#include "route/costs.hpp"
#include "route/hardware.hpp"

namespace tca::route {

// After so many days a table is stale: firmware, kernel and libraries have changed since.
inline constexpr int days_until_stale = 365;

// Where `tca tune` keeps the table for such fabrics on such hardware: opentca/ under $XDG_CACHE_HOME or ~/.cache. Empty when
// the environment has neither. The version is not part of the name, so that a later library finds the table, and says that
// it is stale.
std::filesystem::path tuning_path(const std::string& hardware, const std::string& fabrics);

// What may serve a world on `hardware` with `fabrics`, now.
struct TuningNeeds {
  std::string hardware, fabrics, version;
  std::int64_t now = std::time(nullptr);
};

// The table in `text`. Throws Error{invalid_argument} with the reason for which it cannot serve: damaged, or measured on
// other hardware, with another version or other fabrics, or too long ago.
TuningTable usable_table(std::string_view text, const TuningNeeds& needs);

// The text of a table's file. Throws Error{invalid_argument} with what is wrong: missing, unreadable, too large to be one,
// or, unless `foreign` files are welcome, another user's.
std::string read_table(const std::filesystem::path& path, bool foreign);

// Writes a file beside `path` first and then renames it, so that the old table or the new one is there at any moment.
// Throws Error{invalid_argument} when it cannot be written.
void write_table(const std::filesystem::path& path, const std::string& text);

// Collective. The costs for this rank's puts: rank 0's table, for all ranks, since collectives must choose alike; the
// built-in one where rank 0 has none. What keeps a table from serving, and ranks whose hardware is not rank 0's, are told
// on rank 0's stderr, in a line each. OPENTCA_TUNING=FILE names a table, =off leaves all out. Throws, on every rank alike,
// Error{incompatible} when ranks have different values of it or run different versions of the library.
Costs agree_on_costs(fabric::Control& control, std::span<const std::unique_ptr<fabric::Fabric>> fabrics,
                     const fabric::Places& places);

}  // namespace tca::route
