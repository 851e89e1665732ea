// Checks whether what was asked for fits, before anything is allocated.
#pragma once

#include <string>

namespace tca::tool {

// Throws Error{out_of_memory} when `bytes` is more than `hosts` hosts have, each taken to be like this one.
// Over MPI each rank may be on a host of its own. `what` begins the message, such as "size L".
void check_memory(const std::string& what, double bytes, int hosts);

}  // namespace tca::tool
