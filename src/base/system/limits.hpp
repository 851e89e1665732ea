// Tells which of the system's limits a failed call has hit, since an errno does not: ENOMEM is the error of
// six limits, EAGAIN of five.
#pragma once

#include <cerrno>
#include <cstdint>
#include <string>

namespace tca::base {

// Returns what `error` means, for the end of a sentence, and if a limit is the reason, which one, how high
// it is and how to raise it. `bytes`: how much memory the call was to get. Call it at once, while the
// process still holds what it held when the call failed.
std::string limit_met(int error, std::uint64_t bytes = 0);

// Returns whether an open failed because something ran out, rather than because of the file.
inline bool is_of_limit(int error) { return error == EMFILE || error == ENFILE || error == ENOMEM; }

// The same for a thread that could not be started.
std::string thread_limit_met(int error);

}  // namespace tca::base
