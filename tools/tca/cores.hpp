// The cores that this process may use.
#pragma once

#include <string>
#include <vector>

namespace tca::tool {

// Every CPU of the affinity mask, the first hardware thread of each core before the second ones.
std::vector<int> usable_cpus();

// How many different cores those CPUs belong to.
int usable_cores();

// "Intel(R) Xeon(R) ..."
std::string cpu_model();

}  // namespace tca::tool
