#include "base/system/cgroup.hpp"

#include <algorithm>
#include <fstream>
#include <limits>

namespace tca::base {

namespace {

constexpr double unlimited = std::numeric_limits<double>::infinity();

// Reads "150000 100000", the microseconds allowed and the length of the period; "max 100000" means no
// limit.
double allowed_by(std::istream&& quota, std::istream&& period) {
  double time = 0, of = 0;
  return quota >> time && period >> of && time > 0 && of > 0 ? time / of : unlimited;
}

}  // namespace

// Lines of /proc/self/cgroup read "0::/path" in version 2 and "4:memory:/path" in version 1.
Cgroups cgroups(const std::string& controller) {
  const std::string root_2 = "/sys/fs/cgroup", root_1 = root_2 + "/" + controller;
  Cgroups found{{root_1}, {root_2}};
  std::ifstream file("/proc/self/cgroup");
  for (std::string line; std::getline(file, line);) {
    const std::size_t name = line.find(':') + 1, begin = line.find(":/") + 1;
    if (name == 0 || begin == 0) continue;
    const std::string controllers = "," + line.substr(name, begin - 1 - name) + ",";
    const bool is_2 = controllers == ",,";
    if (!is_2 && controllers.find("," + controller + ",") == std::string::npos) continue;
    for (std::string path = line.substr(begin); path.size() > 1; path.resize(path.rfind('/')))
      (is_2 ? found.version_2 : found.version_1).push_back((is_2 ? root_2 : root_1) + path);
  }
  return found;
}

double processors_allowed() {
  double allowed = unlimited;
  const Cgroups all = cgroups("cpu");
  for (const std::string& folder : all.version_1)
    allowed = std::min(allowed, allowed_by(std::ifstream(folder + "/cpu.cfs_quota_us"),
                                           std::ifstream(folder + "/cpu.cfs_period_us")));
  for (const std::string& folder : all.version_2) {
    std::ifstream period(folder + "/cpu.max");
    std::string quota;
    period >> quota;
    allowed = std::min(allowed, allowed_by(std::ifstream(folder + "/cpu.max"), std::move(period)));
  }
  return allowed;
}

}  // namespace tca::base
