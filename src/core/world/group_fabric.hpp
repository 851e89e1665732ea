// A fabric as seen by a group of ranks: the fabric of the surrounding world, with ranks numbered as in the
// group. All groups of a world share its fabrics, so a wait in one drives what is owed in all.
#pragma once

#include <memory>
#include <vector>

#include "fabric/fabric.hpp"

namespace tca::core {

// The ranks of a group, by their number in the group.
using GroupRanks = std::shared_ptr<const std::vector<int>>;

// `fabric` must outlive what is returned.
std::unique_ptr<fabric::Fabric> make_group_fabric(fabric::Fabric& fabric, GroupRanks ranks);

// Returns a group's view of a window of the surrounding world, or of a larger group (`of_group`). `owner`
// keeps the memory alive.
std::unique_ptr<fabric::Memory> make_group_view(fabric::Memory& memory, bool of_group, GroupRanks ranks,
                                                std::shared_ptr<const void> owner);

}  // namespace tca::core
