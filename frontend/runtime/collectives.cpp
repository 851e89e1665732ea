// What the nodes of a directive do together: tasks, barriers, broadcasts.
#include "runtime/collectives.hpp"

#include <algorithm>

#include "runtime/check/checks.hpp"
#include "runtime/on_device.hpp"
#include "runtime/site.hpp"

namespace tca::xacc {

Group* group_of(const xacc_on& on) {
  Runtime& runtime = Runtime::get();
  std::vector<int> ranks = ranks_of(on);
  if (std::find(ranks.begin(), ranks.end(), runtime.world().rank()) == ranks.end()) return nullptr;
  runtime.meet(ranks);
  return &runtime.group(ranks);
}

raw::Collective& cached(Group& group, const std::string& key, const raw::Request& request) {
  const auto at = group.collectives.find(key);
  if (at != group.collectives.end()) return at->second;
  return group.collectives.emplace(key, raw::Collective(*group.world, request)).first->second;
}

std::string where_run(bool in_queue) { return in_queue ? " on devices" : ""; }

void run_in_queue(raw::Collective& all, void* values, std::size_t bytes, bool reads, bool writes) {
  Device& device = Runtime::get().device();
  device.join();
  if (reads) device.copy_within(all.from().data(), values, bytes, XACC_SYNC);
  all.run(device.stream(XACC_SYNC));
  if (writes) device.copy_within(values, all.to().data(), bytes, XACC_SYNC);
}

bool has_queues(int flags) { return elsewhere(flags) && Runtime::get().device().stream(XACC_SYNC); }

namespace {

raw::Collective& broadcast_of(std::int64_t bytes, int root, Group& group, bool in_queue = false) {
  const std::string name =
      "bcast " + std::to_string(bytes) + " from " + std::to_string(root) + where_run(in_queue);
  return cached(
      group, name,
      {.kind = CollectiveKind::broadcast, .name = name, .element_bytes = 1, .count = bytes, .root = root});
}

void run(raw::Collective& broadcast, void* values, std::size_t bytes, bool is_root) {
  if (is_root) broadcast.from().write(0, {static_cast<const std::byte*>(values), bytes});
  broadcast.run();
  if (!is_root) broadcast.to().read(0, {static_cast<std::byte*>(values), bytes});
}

struct KnownBroadcast {
  NamedNodes on, from;
  bool has_from = false;
  std::int64_t bytes = 0;
  bool is_root = false;
  raw::Collective* broadcast = nullptr;  // null where there is nothing to do
};

KnownBroadcast& broadcast_at(xacc_site& site, std::int64_t bytes, const xacc_on* from, const xacc_on& on,
                             bool in_queue) {
  auto& known = kept_at<KnownBroadcast>(site);
  if (is_plain() && known.on.are(on) && known.bytes == bytes && known.has_from == (from != nullptr) &&
      (!from || known.from.are(*from)))
    return known;
  known = {NamedNodes(on), from ? NamedNodes(*from) : NamedNodes(), from != nullptr, bytes};
  Group* group = group_of(on);
  if (!group || group->ranks.size() == 1 || bytes == 0) return known;
  const int root = root_of(from, *group);
  known.is_root = group->me == root;
  known.broadcast = &broadcast_of(bytes, root, *group, in_queue);
  return known;
}

struct KnownBarrier {
  NamedNodes on;
  raw::Collective* barrier = nullptr;  // null where there is nothing to wait for
};

raw::Collective* barrier_at(xacc_site& site, const xacc_on& on) {
  auto& known = kept_at<KnownBarrier>(site);
  if (is_plain() && known.on.are(on)) return known.barrier;
  Group* group = group_of(on);
  known = {NamedNodes(on)};
  if (group && group->ranks.size() > 1)
    known.barrier = &cached(*group, "barrier", {.kind = CollectiveKind::barrier, .name = "barrier"});
  return known.barrier;
}

}  // namespace

void broadcast(void* values, std::int64_t bytes, int root, Group& group) {
  if (group.ranks.size() == 1 || bytes == 0) return;
  run(broadcast_of(bytes, root, group), values, static_cast<std::size_t>(bytes), group.me == root);
}

int root_of(const xacc_on* from, const Group& group) {
  if (!from) return 0;
  const std::vector<int> ranks = ranks_of(*from);
  if (ranks.size() != 1)
    refuse("bcast: `from` names " + std::to_string(ranks.size()) + " nodes, and one of them has the value");
  const auto at = std::find(group.ranks.begin(), group.ranks.end(), ranks[0]);
  if (at == group.ranks.end())
    refuse("bcast: rank " + std::to_string(ranks[0]) + " of `from` is none of those that it goes to");
  return static_cast<int>(at - group.ranks.begin());
}

// Where all ranks come.
void compare_all(const xacc_place& at) {
  if (Checks* checks = Runtime::get().checks()) checks->compare_all(at);
}

}  // namespace tca::xacc

using namespace tca::xacc;

xacc_task xacc_task_enter(xacc_on on, const xacc_place* at) {
  xacc_task task{};
  guarded(at, [&] {
    std::vector<int> ranks = ranks_of(on);
    task.inside = std::find(ranks.begin(), ranks.end(), Runtime::get().world().rank()) != ranks.end();
    if (task.inside) Runtime::get().enter(std::move(ranks));
    task.entered = task.inside;
  });
  return task;
}

void xacc_task_leave(xacc_task* task) {
  if (task->entered) Runtime::get().leave();
}

void xacc_barrier(xacc_on on, int flags, xacc_site* site) {
  guarded(&site->place, [&] {
    if (flags & XACC_DEVICE) Runtime::get().device().wait_all();
    tca::raw::Collective* const barrier = barrier_at(*site, on);
    if (!barrier) return;
    compare_all(site->place);
    barrier->run();
  });
}

void xacc_bcast(void* values, int64_t bytes, const xacc_on* from, xacc_on on, int flags, xacc_site* site) {
  guarded(&site->place, [&] {
    const bool in_queue = has_queues(flags);
    const KnownBroadcast& known = broadcast_at(*site, bytes, from, on, in_queue);
    if (!known.broadcast) return;
    const auto size = static_cast<std::size_t>(bytes);
    if (in_queue)
      return run_in_queue(*known.broadcast, Runtime::get().present().address_of("the variable", values), size,
                          known.is_root, !known.is_root);
    where_they_are("the variable", values, size, flags,
                   [&] { run(*known.broadcast, values, size, known.is_root); });
  });
}
