// Brings a process into the world of the ranks with which it was launched.
#pragma once

#include <memory>

#include "fabric/shm/seating.hpp"
#include "fabric/shm/shm_control.hpp"

namespace tca::shm {

// Opens or creates the control segment and waits for every rank. Throws Error{incompatible} for a segment
// that belongs to another user or program, is corrupted or of another version, and Error{invalid_argument}
// for ranks on several hosts.
std::unique_ptr<ShmControl> join(const Seating& seating, std::chrono::milliseconds time_limit);

// Returns a board for `ranks` threads, or for a world of one.
Mapping make_thread_board(int ranks);

}  // namespace tca::shm
