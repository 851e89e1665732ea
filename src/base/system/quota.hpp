// Reads what this process's cgroups (its container, its job) allow it.
#pragma once

#include <cstdint>
#include <string>

#include "base/system/proc.hpp"

namespace tca::base {

// How much of a resource is left, and the file that holds its limit.
struct Quota {
  std::uint64_t left = no_limit, limit = no_limit;
  std::string file;
};

// Return the tightest quota among those of this process's cgroup and of the cgroups that contain it.
Quota memory_quota();   // in bytes
Quota process_quota();  // in processes and threads

}  // namespace tca::base
