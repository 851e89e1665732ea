/// @file
/// What a rank knows about failed parts of the machine.
#pragma once

#include <string>
#include <vector>

#include "tca/detail/language.hpp"

namespace tca {

/// A part of the machine that has failed, as one rank was told: on sim over the network itself, elsewhere
/// as one end of a path that was to fail (WorldOptions::faults). Times are in seconds on the ranks' clock
/// (World::now).
struct KnownFault {
  std::string name;    ///< "cable 0-1", "hub 3", "host 2" of nodes; "path 0-1 by shm/pull" of ranks
  double failed = 0;   ///< when it failed
  double noticed = 0;  ///< when the first of its neighbours noticed
  int noticed_by = 0;  ///< the node of that neighbour; of a path, this rank
  double told = 0;     ///< when this rank's host was told
  /// If the faults that this rank knows of divide the ranks of its sub-cluster: those that its own hub
  /// still reaches, itself among them. Empty if they divide nobody.
  std::vector<int> side = {};
};

}  // namespace tca
