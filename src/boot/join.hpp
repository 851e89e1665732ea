// Brings a process into the world of the ranks with which it was launched.
#pragma once

#include <memory>

#include "boot/seating.hpp"
#include "control/shm/shm_control.hpp"

namespace tca::boot {

// Opens or creates the control segment and waits for every rank. Throws Error{incompatible} for a segment
// that belongs to another user or program, is corrupted or of another version, and Error{invalid_argument}
// for ranks on several hosts.
std::unique_ptr<shm::ShmControl> join(const Seating& seating, std::chrono::milliseconds time_limit);

// Returns a board for `ranks` threads, or for a world of one.
shm::Mapping make_thread_board(int ranks);

}  // namespace tca::boot
