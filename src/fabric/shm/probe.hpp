// How far the ranks are from each other, and how bytes cross best.
#pragma once

#include "fabric/control.hpp"
#include "fabric/shm/inbox.hpp"

namespace tca::shm {

struct Crossing {
  double ns = 0;                // a cache line's, from one core to another; 0 where nobody could measure
  bool streaming_pays = false;  // stores past the caches (base/stream.hpp) bring pages across clearly sooner
};

// Collective. Of the median pair of ranks, the same on all; nothing is known where there is no pair, and where ranks share
// cores, so that nobody could answer at once. Writes into the inboxes, before any chain does.
Crossing measure_crossing(const Inbox& inbox, fabric::Control& control, const fabric::Places& places);

}  // namespace tca::shm
