// The cores that this process may use.
#pragma once

#include <sys/types.h>

#include <string>
#include <vector>

namespace tca::tool {

struct Cpu {
  int number;
  int core;  // numbers the cores among the CPUs below
};

// Returns every CPU of the affinity mask, the first hardware thread of each core before the second ones.
std::vector<Cpu> usable_cpus();

// Returns how many different cores those CPUs belong to, or how many processors' worth of time the cgroups
// allow, if that is less.
int usable_cores();

// Returns the CPUs that a thread may run on, in ascending order; this one for 0. Empty when it has ended.
std::vector<int> affinity_of(pid_t thread);

// Returns the model's name, such as "Intel(R) Xeon(R) ...".
std::string cpu_model();

}  // namespace tca::tool
