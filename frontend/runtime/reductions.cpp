// Reductions of what every node has by itself.
#include "runtime/check/checks.hpp"
#include "runtime/collectives.hpp"
#include "runtime/numbers.hpp"
#include "runtime/on_device.hpp"
#include "runtime/site.hpp"

namespace tca::xacc {
namespace {

// Null where there is nothing to do.
raw::Collective* set_up(std::int64_t count, int type, int operation, Group& group, bool in_queue = false) {
  if (group.ranks.size() == 1 || count == 0) return nullptr;
  const std::string name = "reduction " + std::to_string(type) + "," + std::to_string(operation) + "," +
                           std::to_string(count) + where_run(in_queue);
  raw::Request request{.kind = CollectiveKind::all_reduce,
                       .name = name,
                       .type = data_type(type),
                       .element_bytes = bytes_of(type),
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

}  // namespace

void reduce(void* values, std::int64_t count, int type, int operation, Group& group) {
  run(set_up(count, type, operation, group), values, bytes_of(type) * static_cast<std::size_t>(count));
}

}  // namespace tca::xacc

using namespace tca::xacc;

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
