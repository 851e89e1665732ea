// How far the ranks are from each other: the time a cache line takes from one core to another.
#pragma once

#include "fabric/control.hpp"
#include "fabric/shm/inbox.hpp"

namespace tca::shm {

// Collective. Nanoseconds, the median over pairs of ranks; 0 in a world of one, and where ranks share cores, so that
// nobody could answer at once.
double measure_crossing_ns(const Inbox& inbox, fabric::Control& control);

}  // namespace tca::shm
