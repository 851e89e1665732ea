#include "base/system/quota.hpp"

#include <algorithm>
#include <utility>
#include <vector>

#include "base/system/cgroup.hpp"

namespace tca::base {

namespace {

// The files and fields in which a version of cgroups keeps its numbers.
struct Names {
  const char *limit, *used, *active, *inactive;
};
constexpr Names memory_2{"/memory.max", "/memory.current", "active_file", "inactive_file"};
constexpr Names memory_1{"/memory.limit_in_bytes", "/memory.usage_in_bytes", "total_active_file",
                         "total_inactive_file"};
constexpr Names processes{"/pids.max", "/pids.current", nullptr, nullptr};

Quota quota_in(const std::string& folder, const Names& names) {
  const std::uint64_t limit = read_number(folder + names.limit);
  const std::uint64_t used = read_number(folder + names.used);
  if (limit == no_limit || used == no_limit) return {};
  // Cached files count as used, but the kernel evicts them when memory is needed.
  const std::uint64_t cached =
      names.active == nullptr ? 0 : read_sum(folder + "/memory.stat", names.active, names.inactive);
  return {limit - std::min(limit, used - std::min(used, cached)), limit, folder + names.limit};
}

Quota least_of(const char* controller, const Names& version_1, const Names& version_2) {
  const Cgroups all = cgroups(controller);
  Quota least;
  const auto look = [&](const std::vector<std::string>& folders, const Names& names) {
    for (const std::string& folder : folders)
      if (Quota quota = quota_in(folder, names); quota.left < least.left) least = std::move(quota);
  };
  look(all.version_1, version_1);
  look(all.version_2, version_2);
  return least;
}

}  // namespace

Quota memory_quota() { return least_of("memory", memory_1, memory_2); }
Quota process_quota() { return least_of("pids", processes, processes); }

}  // namespace tca::base
