// A detector as its process: makes events, sends them over a link in time, and damages on purpose what it is told to.
#pragma once

#include "trigger/link.hpp"

namespace tca::trigger {

// Makes the events, writes a line to stdout, and waits for one on stdin before it sends to that port of this host. Returns
// the exit code; it ends with whoever has started it, and where nobody listens any longer.
int run_detector(const Run& run, const Link& link, int port);

}  // namespace tca::trigger
