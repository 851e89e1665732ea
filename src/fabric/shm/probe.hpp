// Measures how far apart the ranks are: the time that a cache line takes from one core to another.
#pragma once

#include "control/control.hpp"
#include "fabric/shm/inbox.hpp"

namespace tca::shm {

// Collective. Returns the median over pairs of ranks in nanoseconds, the same on every rank. Returns 0 if
// there is no pair, or if ranks share cores, so that a partner could not answer at once.
double measure_crossing_ns(const Inbox& inbox, control::Control& control, const control::Places& places);

}  // namespace tca::shm
