// Whether another process is still there.
#pragma once

#include <sys/types.h>

#include <cstdint>

namespace tca::shm {

// False for this process itself.
bool process_ended(pid_t pid);

// A number of the PID namespace that this process is in; 0 where nobody says.
std::uint32_t own_pid_namespace();

}  // namespace tca::shm
