// Who in this process calls MPI past the hooks.
#pragma once

#include <string>

namespace tca::interposer {

// Returns what of the process, other than MPI itself and this library, is linked with a profiling name (PMPI_) of a call of messages or
// requests, or with such a call of an MPI that is newer than the hooks, and with which; empty where nothing is. What the process loads
// later is not seen.
std::string message_call_past_hooks();

}  // namespace tca::interposer
