#include <algorithm>

#include "base/system/proc.hpp"
#include "base/system/quota.hpp"
#include "control/shm/space.hpp"

namespace tca::shm {

std::uint64_t available_memory() {
  const std::uint64_t kibibytes = base::read_sum("/proc/meminfo", "MemAvailable:");
  return std::min(kibibytes == 0 ? base::no_limit : kibibytes * 1024, base::memory_quota().left);
}

}  // namespace tca::shm
