// The cores that this process may use.
#pragma once

#include <string>
#include <vector>

namespace tca::tool {

// Returns every CPU of the affinity mask, the first hardware thread of each core before the second ones.
std::vector<int> usable_cpus();

// Returns how many different cores those CPUs belong to.
int usable_cores();

// Returns the model's name, such as "Intel(R) Xeon(R) ...".
std::string cpu_model();

}  // namespace tca::tool
