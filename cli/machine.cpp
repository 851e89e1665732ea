// Describes this host, from hwloc when it was built in, and from /proc and /sys.
#include "cli/machine.hpp"

#include <sys/statvfs.h>
#include <unistd.h>

#include <algorithm>
#include <fstream>
#include <sstream>

#include "cli/launch/cores.hpp"

#ifdef OPENTCA_HAVE_HWLOC
#include <hwloc.h>
#endif

namespace tca::tool {
namespace {

std::int64_t meminfo(const std::string& name) {
  std::ifstream file("/proc/meminfo");
  for (std::string line; std::getline(file, line);) {
    std::istringstream words(line);
    std::string key;
    std::int64_t kib = 0;
    if (words >> key >> kib && key == name + ":") return kib * 1024;
  }
  return 0;
}

std::int64_t memory_limit() {
  for (const char* path : {"/sys/fs/cgroup/memory.max", "/sys/fs/cgroup/memory/memory.limit_in_bytes"}) {
    std::ifstream file(path);
    std::int64_t bytes = 0;
    // Version 1 of control groups expresses "no limit" by a number beyond any memory.
    if (file >> bytes && bytes < (std::int64_t{1} << 60)) return bytes;
  }
  return 0;
}

#ifdef OPENTCA_HAVE_HWLOC

void add_topology(Machine& machine) {
  hwloc_topology_t topology;
  if (hwloc_topology_init(&topology) != 0) return;
  if (hwloc_topology_load(topology) == 0) {
    machine.packages = std::max(0, hwloc_get_nbobjs_by_type(topology, HWLOC_OBJ_PACKAGE));
    machine.numa_nodes = std::max(0, hwloc_get_nbobjs_by_type(topology, HWLOC_OBJ_NUMANODE));
    const std::pair<hwloc_obj_type_t, const char*> levels[] = {
        {HWLOC_OBJ_L1CACHE, "L1d"}, {HWLOC_OBJ_L2CACHE, "L2"}, {HWLOC_OBJ_L3CACHE, "L3"}};
    for (const auto& [type, name] : levels) {
      const int count = hwloc_get_nbobjs_by_type(topology, type);
      if (count <= 0) continue;
      const hwloc_obj_t first = hwloc_get_obj_by_type(topology, type, 0);
      machine.caches.push_back({name, static_cast<std::int64_t>(first->attr->cache.size), count});
    }
  }
  hwloc_topology_destroy(topology);
}

#else

void add_topology(Machine& machine) {
  const std::pair<int, const char*> levels[] = {
      {_SC_LEVEL1_DCACHE_SIZE, "L1d"}, {_SC_LEVEL2_CACHE_SIZE, "L2"}, {_SC_LEVEL3_CACHE_SIZE, "L3"}};
  for (const auto& [level, name] : levels)
    if (const long bytes = sysconf(level); bytes > 0) machine.caches.push_back({name, bytes, 0});
}

#endif

}  // namespace

Machine this_machine() {
  Machine machine;
  machine.cpu = cpu_model();
  machine.cores = usable_cores();
  machine.cpus = static_cast<int>(usable_cpus().size());
  machine.cpus_online = static_cast<int>(sysconf(_SC_NPROCESSORS_ONLN));
  machine.memory = meminfo("MemTotal");
  machine.memory_available = meminfo("MemAvailable");
  machine.memory_limit = memory_limit();
  struct statvfs shared {};
  if (statvfs("/dev/shm", &shared) == 0) {
    machine.named_shared = static_cast<std::int64_t>(shared.f_blocks * shared.f_frsize);
    machine.named_shared_available = static_cast<std::int64_t>(shared.f_bavail * shared.f_frsize);
  }
  add_topology(machine);
  return machine;
}

}  // namespace tca::tool
