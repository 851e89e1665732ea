/// @file
/// All ranks as an accelerator sees them: where signals and values for small collectives go. Passed to
/// kernels by value.
#pragma once

#include "tca/device/chain.hpp"
#include "tca/device/window.hpp"

namespace tca {

struct DeviceTeam {
  static constexpr device::Word max_ranks = device::max_ranks;

  device::Word rank = 0, size = 1;
  device::Word max_values = 0;  ///< the most values that a sum takes
  device::Word max_blocks = 0;  ///< the most blocks of a grid that sums
  /// Each rank has two sets of `max_values` packets from every rank: `theirs` are this rank's at each of
  /// the others, `mine` those of all senders here. The sets alternate between steps. A rank that sends in
  /// step n + 1 has read all of step n, so everybody has read step n - 1, which used the same set. After
  /// them come the packets of grids; see device::GridStep.
  device::Packet* theirs[max_ranks] = {};
  device::Packet* mine = nullptr;
  device::Word* step = nullptr;         ///< of single blocks; behind it lies that of grids
  device::Word* raise[max_ranks] = {};  ///< at each rank: the count of signals from this one
  device::Word* raised = nullptr;       ///< here, by rank: the count of signals from it
  device::Word* sent = nullptr;         ///< by rank: how many signals this one has raised there
  device::Word* seen = nullptr;         ///< by rank: how many of its signals this one has waited for
  /// Its `waiting` has two more words, at the end: the rank whose signal did not arrive, counted from 1,
  /// and the number of blocks of a grid that has more than `max_blocks`.
  device::WaitLimits limits;
};

}  // namespace tca
