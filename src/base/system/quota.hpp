// Reads what the cgroups of this process (its container, its job) allow it.
#pragma once

#include <cstdint>
#include <string>

#include "base/system/proc.hpp"

namespace tca::base {

// What is left of a resource, and the file that says how much there may be.
struct Quota {
  std::uint64_t left = no_limit, limit = no_limit;
  std::string file;
};

// Return the quota of which the least is left, of the cgroup of this process and of those that contain it.
Quota memory_quota();   // in bytes
Quota process_quota();  // in processes and threads

}  // namespace tca::base
