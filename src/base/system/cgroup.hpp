// Finds the cgroups whose limits apply to this process, and how much processor time they allow.
#pragma once

#include <string>
#include <string_view>
#include <vector>

namespace tca::base {

// Folders with the files of a controller, in the two versions of cgroups.
struct Cgroups {
  std::vector<std::string> version_1, version_2;
};

// Returns the cgroup of this process and those that contain it, for a controller such as "memory". A
// container sees its own cgroup as the root. A folder may be missing.
Cgroups cgroups(const std::string& controller);

// Returns how many processors' worth of time the cgroups allow to this process and others in them; infinite
// without a limit.
double processors_allowed();

}  // namespace tca::base
