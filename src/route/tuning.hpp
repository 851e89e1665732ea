// Finds this machine's tuning table, decides whether it applies, and has all ranks of a world agree on it.
#pragma once

#include <ctime>
#include <filesystem>
#include <string>

#include "control/control.hpp"
#include "route/costs.hpp"
#include "route/hardware.hpp"

namespace tca::route {

// A table older than this is stale, since firmware, kernel and libraries will have changed.
inline constexpr int days_until_stale = 365;

// Returns where `tca tune` keeps the table for such fabrics on such hardware: opentca/ under
// $XDG_CACHE_HOME or ~/.cache. Empty if the environment has neither. The version is not part of the name,
// so a later library finds the table and reports that it is stale.
std::filesystem::path tuning_path(const std::string& hardware, const std::string& fabrics);

// The circumstances that a table must have been measured in to be used for this world.
struct TuningNeeds {
  std::string hardware, fabrics, version;
  std::int64_t now = std::time(nullptr);
};

// Returns the table in `text`. Throws Error{invalid_argument} with the reason if it cannot be used: it is
// damaged, or was measured on other hardware, with another version or other fabrics, or too long ago.
TuningTable usable_table(std::string_view text, const TuningNeeds& needs);

// Returns the text of a table's file. Throws Error{invalid_argument} with the reason if it is missing,
// unreadable or too large to be a table, or if it belongs to another user and `foreign` is false.
std::string read_table(const std::filesystem::path& path, bool foreign);

// Returns the costs of this rank's puts. `mpi` is the MPI that takes part, empty if none does. Collective.
// All ranks use rank 0's table, since collectives must choose alike, or the built-in one if rank 0 has
// none. Rank 0 writes a line to stderr if its table cannot be used, and one if other ranks' hardware
// differs from its own. OPENTCA_TUNING=FILE names a table, and OPENTCA_TUNING=off uses none. Throws, on
// every rank alike, Error{incompatible} if ranks have different values of it or run different versions of
// the library.
Costs agree_on_costs(control::Control& control, std::span<const std::unique_ptr<fabric::Fabric>> fabrics,
                     const control::Places& places, std::string_view mpi);

}  // namespace tca::route
