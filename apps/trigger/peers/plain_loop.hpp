// What the ring and its host loop are compared with: a program that takes one datagram after the other, as the textbook has
// it.
#pragma once

#include "trigger/trigger.hpp"

namespace tca::trigger {

// Blocks in recv() for each datagram, and answers its events. Throws as run_trigger does.
Outcome run_plain_loop(const Station& station, DetectorProcess& detector);

}  // namespace tca::trigger
