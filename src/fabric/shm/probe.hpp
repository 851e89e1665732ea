// How far the ranks are from each other: the time a cache line takes from one core to another.
#pragma once

#include "fabric/control.hpp"
#include "fabric/shm/inbox.hpp"

namespace tca::shm {

// Collective. Nanoseconds, the median over pairs of ranks, the same on all; 0 where there is none, and where ranks
// share cores, so that nobody could answer at once.
double measure_crossing_ns(const Inbox& inbox, fabric::Control& control, const fabric::Places& places);

}  // namespace tca::shm
