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
// Sets up what the key stands for, or finds it.
raw::Collective& cached(Group& group, const std::string& key, const raw::Request& request);
void reduce(void* values, std::int64_t count, int type, int operation, Group& group);
void broadcast(void* values, std::int64_t bytes, int root, Group& group);

// Whether `flags` mean memory of a device, whose queues run collectives. Steps of one are all the host's or all in queues,
// so keys say which.
bool has_queues(int flags);
std::string where_run(bool in_queue);
// Between memory of devices, in the queue of what the program takes as done: from the values, where this rank `reads` them, and
// into them.
void run_in_queue(raw::Collective& all, void* values, std::size_t bytes, bool reads = true,
                  bool writes = true);

}  // namespace tca::xacc
