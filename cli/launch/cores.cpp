// The cores that this process may use.
#include "cli/launch/cores.hpp"

#include <fmt/format.h>
#include <sched.h>
#include <sys/utsname.h>

#include <algorithm>
#include <cerrno>
#include <fstream>
#include <map>
#include <utility>

#include "base/system/cgroup.hpp"

namespace tca::tool {
namespace {

int topology_number(int cpu, const char* name, int otherwise) {
  std::ifstream file(fmt::format("/sys/devices/system/cpu/cpu{}/topology/{}", cpu, name));
  int value = otherwise;
  return file >> value ? value : otherwise;
}

// Returns each CPU of the mask, with the number of its core's hardware threads that come before it.
std::vector<std::pair<int, Cpu>> thread_and_cpu() {
  std::map<std::pair<int, int>, std::pair<int, int>> cores;  // number of the core, and its threads so far
  std::vector<std::pair<int, Cpu>> list;
  for (const int cpu : affinity_of(0)) {
    const int package = topology_number(cpu, "physical_package_id", 0);
    const int core = topology_number(cpu, "core_id", cpu);
    auto& [number, threads] =
        cores.try_emplace({package, core}, static_cast<int>(cores.size()), 0).first->second;
    list.push_back({threads++, {cpu, number}});
  }
  return list;
}

}  // namespace

std::vector<int> affinity_of(pid_t thread) {
  // The kernel may know more CPUs than a cpu_set_t holds, so larger sets are tried too.
  for (std::size_t limit = CPU_SETSIZE; limit <= (1U << 20); limit *= 2) {
    cpu_set_t* set = CPU_ALLOC(limit);
    const std::size_t bytes = CPU_ALLOC_SIZE(limit);
    std::vector<int> cpus;
    const bool known = sched_getaffinity(thread, bytes, set) == 0;
    const bool too_small = !known && errno == EINVAL;
    for (std::size_t cpu = 0; known && cpu < limit; ++cpu)
      if (CPU_ISSET_S(cpu, bytes, set)) cpus.push_back(static_cast<int>(cpu));
    CPU_FREE(set);
    if (!too_small) return cpus;
  }
  return {};
}

std::vector<Cpu> usable_cpus() {
  auto list = thread_and_cpu();
  std::stable_sort(list.begin(), list.end(), [](const auto& a, const auto& b) { return a.first < b.first; });
  std::vector<Cpu> cpus;
  for (const auto& [thread, cpu] : list) cpus.push_back(cpu);
  return cpus;
}

int usable_cores() {
  const auto list = thread_and_cpu();
  const auto cores = std::count_if(list.begin(), list.end(), [](const auto& e) { return e.first == 0; });
  return std::max(1, static_cast<int>(std::min(static_cast<double>(cores), base::processors_allowed())));
}

std::string cpu_model() {
  std::ifstream file("/proc/cpuinfo");
  for (std::string line; std::getline(file, line);) {
    const auto colon = line.find(": ");
    if (line.rfind("model name", 0) == 0 && colon != std::string::npos) return line.substr(colon + 2);
  }
  utsname system{};
  uname(&system);
  return system.machine;
}

}  // namespace tca::tool
