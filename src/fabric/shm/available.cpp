// Finds out how much memory is available: what the host could free, within the limits of this process's
// cgroups.
#include <algorithm>
#include <fstream>
#include <string>

#include "base/cgroup.hpp"
#include "fabric/shm/space.hpp"

namespace tca::shm {

namespace {

constexpr std::uint64_t unlimited = UINT64_MAX;

// Reads a file of one number. "max" and a missing file mean no limit.
std::uint64_t read_number(const std::string& path) {
  std::ifstream file(path);
  std::uint64_t value = 0;
  return file >> value ? value : unlimited;
}

// Returns the sum of `first` and `second` in a file of names and numbers; a missing name counts as 0.
std::uint64_t read_sum(const std::string& path, std::string_view first, std::string_view second) {
  std::ifstream file(path);
  std::uint64_t sum = 0, value = 0;
  for (std::string key, rest; file >> key >> value; std::getline(file, rest)) {
    if (key == first || key == second) sum += value;
  }
  return sum;
}

// The files and fields in which a version of cgroups keeps its numbers.
struct Names {
  const char *limit, *used, *active, *inactive;
};
constexpr Names version_2{"/memory.max", "/memory.current", "active_file", "inactive_file"};
constexpr Names version_1{"/memory.limit_in_bytes", "/memory.usage_in_bytes", "total_active_file",
                          "total_inactive_file"};

std::uint64_t left_in(const std::string& folder, const Names& names) {
  const std::uint64_t limit = read_number(folder + names.limit);
  const std::uint64_t used = read_number(folder + names.used);
  if (limit == unlimited || used == unlimited) return unlimited;
  // Cached files count as used, but the kernel evicts them when memory is needed.
  const std::uint64_t cached = read_sum(folder + "/memory.stat", names.active, names.inactive);
  return limit - std::min(limit, used - std::min(used, cached));
}

std::uint64_t left_in_cgroups() {
  const base::Cgroups all = base::cgroups("memory");
  std::uint64_t left = unlimited;
  for (const std::string& folder : all.version_1) left = std::min(left, left_in(folder, version_1));
  for (const std::string& folder : all.version_2) left = std::min(left, left_in(folder, version_2));
  return left;
}

}  // namespace

std::uint64_t available_memory() {
  std::uint64_t kibibytes = read_sum("/proc/meminfo", "MemAvailable:", "");
  return std::min(kibibytes == 0 ? unlimited : kibibytes * 1024, left_in_cgroups());
}

}  // namespace tca::shm
