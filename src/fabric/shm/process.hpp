// Whether another process is still there.
#pragma once

#include <sys/types.h>

namespace tca::shm {

// False for this process itself.
bool process_ended(pid_t pid);

}  // namespace tca::shm
