// Collectives of a group, which is set up once for each kind and size.
#pragma once

#include "runtime/runtime.hpp"

namespace tca::xacc {

// Null where this rank is none of those that `on` means.
Group* group_of(const xacc_on& on);
// The node of the group that `from` names; the first where it is null.
int root_of(const xacc_on* from, const Group& group);
// What -fcheck has ranks compare where all of them come.
void compare_all(const xacc_place& at);
std::size_t bytes_of(int type);
void reduce(void* values, std::int64_t count, int type, int operation, Group& group);
void broadcast(void* values, std::int64_t bytes, int root, Group& group);

}  // namespace tca::xacc
