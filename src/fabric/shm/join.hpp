// How a process comes into the world of those it was launched with.
#pragma once

#include <memory>

#include "fabric/shm/seating.hpp"
#include "fabric/shm/shm_control.hpp"

namespace tca::shm {

// Opens or creates the control segment and waits for every rank. Throws Error{incompatible} for a segment
// that is another user's, foreign, corrupted or of another version, Error{invalid_argument} for ranks on several hosts.
std::unique_ptr<ShmControl> join(const Seating& seating, std::chrono::milliseconds time_limit);

// A board for `ranks` threads, or for a world of one.
Mapping make_thread_board(int ranks);

}  // namespace tca::shm
