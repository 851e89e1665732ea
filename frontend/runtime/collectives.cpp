// What the nodes of a directive do together: tasks, barriers, reductions, broadcasts.
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

namespace {

struct Type {
  DataType type;
  std::size_t bytes;
};

Type type_of(int type) {
  static constexpr Type types[] = {
      {DataType::float32, 4}, {DataType::float64, 8}, {DataType::long_double, sizeof(long double)},
      {DataType::int8, 1},    {DataType::int16, 2},   {DataType::int32, 4},
      {DataType::int64, 8},   {DataType::uint8, 1},   {DataType::uint16, 2},
      {DataType::uint32, 4},  {DataType::uint64, 8}};
  if (type >= XACC_OTHER) refuse("elements of this type have no reductions: reduce numbers");
  return types[type];
}

template <class T>
raw::Combiner combiner_of(int operation) {
  const auto with = [](auto combine) {
    return [combine](void* into, const void* left, const void* right, std::size_t count) {
      for (std::size_t i = 0; i < count; ++i)
        static_cast<T*>(into)[i] = combine(static_cast<const T*>(left)[i], static_cast<const T*>(right)[i]);
    };
  };
  if (operation == XACC_AND) return with([](T a, T b) { return static_cast<T>(a && b); });
  if (operation == XACC_OR) return with([](T a, T b) { return static_cast<T>(a || b); });
  if constexpr (std::is_integral_v<T>) {
    if (operation == XACC_BIT_AND) return with([](T a, T b) { return static_cast<T>(a & b); });
    if (operation == XACC_BIT_OR) return with([](T a, T b) { return static_cast<T>(a | b); });
    if (operation == XACC_BIT_XOR) return with([](T a, T b) { return static_cast<T>(a ^ b); });
  }
  refuse("numbers with a fraction have no bits to combine");
}

raw::Operation operation_of(int type, int operation) {
  switch (operation) {
    case XACC_SUM:
      return ReduceOp::sum;
    case XACC_PRODUCT:
      return ReduceOp::product;
    case XACC_MAX:
      return ReduceOp::max;
    case XACC_MIN:
      return ReduceOp::min;
    default:
      break;
  }
  switch (type_of(type).type) {
    case DataType::float32:
      return combiner_of<float>(operation);
    case DataType::float64:
      return combiner_of<double>(operation);
    case DataType::int8:
      return combiner_of<std::int8_t>(operation);
    case DataType::int16:
      return combiner_of<std::int16_t>(operation);
    case DataType::int32:
      return combiner_of<std::int32_t>(operation);
    case DataType::int64:
      return combiner_of<std::int64_t>(operation);
    case DataType::uint8:
      return combiner_of<std::uint8_t>(operation);
    case DataType::uint16:
      return combiner_of<std::uint16_t>(operation);
    case DataType::uint32:
      return combiner_of<std::uint32_t>(operation);
    case DataType::uint64:
      return combiner_of<std::uint64_t>(operation);
    default:
      refuse("elements of this type have no such reduction");
  }
}

raw::Collective& cached(Group& group, const std::string& key, const raw::Request& request) {
  const auto at = group.collectives.find(key);
  if (at != group.collectives.end()) return at->second;
  return group.collectives.emplace(key, raw::Collective(*group.world, request)).first->second;
}

}  // namespace

std::size_t bytes_of(int type) { return type_of(type).bytes; }

namespace {

// Steps of one collective are all the host's or all in queues.
std::string where(bool in_queue) { return in_queue ? " on devices" : ""; }

raw::Collective* set_up(std::int64_t count, int type, int operation, Group& group, bool in_queue = false) {
  if (group.ranks.size() == 1 || count == 0) return nullptr;
  const Type t = type_of(type);
  const std::string name = "reduction " + std::to_string(type) + "," + std::to_string(operation) + "," +
                           std::to_string(count) + where(in_queue);
  raw::Request request{.kind = CollectiveKind::all_reduce,
                       .name = name,
                       .type = t.type,
                       .element_bytes = t.bytes,
                       .count = count};
  request.operation = operation_of(type, operation);
  return &cached(group, name, request);
}

void run(raw::Collective* sum, void* values, std::size_t bytes) {
  if (!sum) return;
  sum->from().write(0, {static_cast<const std::byte*>(values), bytes});
  sum->run();
  sum->to().read(0, {static_cast<std::byte*>(values), bytes});
}

// Between memory of devices, in the queue of what the program takes as done.
void run_in_queue(raw::Collective& all, void* values, std::size_t bytes, bool reads = true,
                  bool writes = true) {
  Device& device = Runtime::get().device();
  device.join();
  if (reads) device.copy_within(all.from().data(), values, bytes, XACC_SYNC);
  all.run(device.stream(XACC_SYNC));
  if (writes) device.copy_within(values, all.to().data(), bytes, XACC_SYNC);
}

bool has_queues(int flags) { return elsewhere(flags) && Runtime::get().device().stream(XACC_SYNC); }

// Kernels combine these.
bool combines_in_queue(int type, int operation) {
  const bool number = type == XACC_FLOAT || type == XACC_DOUBLE || type == XACC_INT32 || type == XACC_INT64;
  return number && (operation == XACC_SUM || operation == XACC_PRODUCT || operation == XACC_MAX ||
                    operation == XACC_MIN);
}

struct KnownReduction {
  NamedNodes on;
  std::int64_t count = 0;
  int type = 0, operation = 0;
  raw::Collective* sum = nullptr;  // null where there is nothing to do
};

raw::Collective* reduction_at(xacc_site& site, std::int64_t count, int type, int operation, const xacc_on& on,
                              bool in_queue) {
  auto& known = kept_at<KnownReduction>(site);
  if (is_plain() && known.on.are(on) && known.count == count && known.type == type &&
      known.operation == operation)
    return known.sum;
  Group* group = group_of(on);
  known = {NamedNodes(on), count, type, operation,
           group ? set_up(count, type, operation, *group, in_queue) : nullptr};
  return known.sum;
}

raw::Collective& broadcast_of(std::int64_t bytes, int root, Group& group, bool in_queue = false) {
  const std::string name =
      "bcast " + std::to_string(bytes) + " from " + std::to_string(root) + where(in_queue);
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

void reduce(void* values, std::int64_t count, int type, int operation, Group& group) {
  run(set_up(count, type, operation, group), values, bytes_of(type) * static_cast<std::size_t>(count));
}

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

DataType data_type(int type) { return type_of(type).type; }

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

void xacc_reduce(void* values, int64_t count, int type, int operation, xacc_on on, int flags,
                 xacc_site* site) {
  guarded(&site->place, [&] {
    compare_all(site->place);
    const std::size_t bytes = bytes_of(type) * static_cast<std::size_t>(count);
    if (Checks* checks = Runtime::get().checks())
      checks->changed(values, bytes, flags & XACC_DEVICE, site->place);
    const bool in_queue = has_queues(flags) && combines_in_queue(type, operation);
    tca::raw::Collective* const sum = reduction_at(*site, count, type, operation, on, in_queue);
    if (!in_queue)
      return where_they_are("the variable", values, bytes, flags, [&] { run(sum, values, bytes); });
    void* const there = Runtime::get().present().address_of("the variable", values);
    if (sum) run_in_queue(*sum, there, bytes);
  });
}

void xacc_reduce_array(xacc_array* a, int type, int operation, xacc_on on, int flags, const xacc_place* at) {
  guarded(at, [&] {
    Group* group = group_of(on);
    if (!group) return;
    const auto count = static_cast<std::int64_t>(xacc_bytes(a) / a->layout->element_bytes);
    where_they_are(a->layout->name.c_str(), a->base, xacc_bytes(a), flags,
                   [&] { reduce(a->base, count, type, operation, *group); });
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
