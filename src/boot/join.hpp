// Brings a process into the world of the ranks with which it was launched.
#pragma once

#include <memory>
#include <string_view>

#include "boot/launch_info.hpp"
#include "control/shm/shm_control.hpp"

namespace tca::boot {

// Opens or creates the control segment and waits for every rank. Throws Error{incompatible} for a segment
// that belongs to another user or program, is corrupted or has another version, and Error{invalid_argument}
// for ranks on several hosts if `fabric` serves only one.
std::unique_ptr<shm::ShmControl> join(const LaunchInfo& launch, std::chrono::milliseconds time_limit,
                                      std::string_view fabric = "shm");

// Returns a rendezvous for `ranks` threads, or for a world of one.
shm::Mapping make_thread_rendezvous(int ranks);

}  // namespace tca::boot
