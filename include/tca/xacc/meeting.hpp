/// @file
/// Where the reductions of a compute region meet (`tca xacc cc --acc cuda`): the runtime fills it in, and the region's
/// kernel gets it by value.
#ifndef TCA_XACC_MEETING_HPP
#define TCA_XACC_MEETING_HPP

#include "tca/device/packet.hpp"
#include "tca/device/team.hpp"

/// Of this rank's blocks.
struct xacc_meeting {
  void* scratch = nullptr;  ///< a ticket, the results, and what each block leaves
  /// Pinned memory of the host, which polls it: a packet for each result, with the number of the launch.
  /// Null if the host does not wait.
  tca::device::Packet* told = nullptr;
  tca::device::Word launch = 0;
  /// Whether nothing else happens to the results, so that the last block may execute the statement that
  /// follows.
  bool goes_on = false;
};

/// The same if the last block goes on to those of other ranks. A team of one has nobody to meet.
struct xacc_meeting_of_ranks : xacc_meeting {
  tca::DeviceTeam team;
};

#endif
