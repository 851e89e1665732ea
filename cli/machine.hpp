// Describes this host, as `tca info` shows it.
#pragma once

#include <cstdint>
#include <nlohmann/json.hpp>
#include <string>
#include <vector>

namespace tca::tool {

struct Cache {
  std::string name;  // such as "L2" or "L1d"
  std::int64_t bytes = 0;
  int count = 0;
};

// Counts and sizes are 0 when unknown.
struct Machine {
  std::string cpu;
  int packages = 0;
  int numa_nodes = 0;
  int cores = 0;  // usable by this process
  int cpus = 0;   // hardware threads, usable by this process
  int cpus_online = 0;
  std::vector<Cache> caches;
  std::int64_t memory = 0;
  std::int64_t memory_available = 0;
  std::int64_t memory_limit = 0;  // of the control group; 0 when there is none
  std::int64_t named_shared = 0;  // /dev/shm's size
  std::int64_t named_shared_available = 0;
};

Machine this_machine();

}  // namespace tca::tool
