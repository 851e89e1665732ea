// A fabric as a group of ranks sees it: the fabric of the world around, whose ranks it calls by the numbers that they
// have in the group. All groups of a world share its fabrics, so that a wait in one moves what is owed in all.
#pragma once

#include <memory>
#include <vector>

#include "fabric/fabric.hpp"

namespace tca::core {

// The ranks of a group, by their number there.
using GroupRanks = std::shared_ptr<const std::vector<int>>;

// `fabric` outlives what is returned.
std::unique_ptr<fabric::Fabric> make_group_fabric(fabric::Fabric& fabric, GroupRanks ranks);

// Returns a window of the world around, or of a group (`of_group`) that is larger, as a group sees it. `owner` keeps
// the memory alive.
std::unique_ptr<fabric::Memory> make_group_view(fabric::Memory& memory, bool of_group, GroupRanks ranks,
                                                std::shared_ptr<const void> owner);

}  // namespace tca::core
