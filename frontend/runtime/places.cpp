// Reductions that say where the greatest or least value is, and broadcasts of sections.
#include <cstring>
#include <limits>

#include "runtime/collectives.hpp"
#include "runtime/move/section.hpp"
#include "runtime/numbers.hpp"

namespace tca::xacc {
namespace {

// A place's number; none where it is no single integer.
std::optional<std::int64_t> number(const xacc_section& place) {
  if (place.dims > 0) return {};
  if (place.element_bytes == 4) return *static_cast<const std::int32_t*>(place.memory);
  if (place.element_bytes == 8) return *static_cast<const std::int64_t*>(place.memory);
  return {};
}

// Of the nodes that are candidates, leaves those whose place is the first, or the last.
void leave_best(bool& candidate, const xacc_section& place, bool last, Group& group) {
  const auto mine = number(place);
  if (!mine) return;
  using Limits = std::numeric_limits<std::int64_t>;
  std::int64_t best = candidate ? *mine : last ? Limits::min() : Limits::max();
  reduce(&best, 1, XACC_INT64, last ? XACC_MAX : XACC_MIN, group);
  candidate = candidate && *mine == best;
}

void share(const xacc_section& section, int root, Group& group) {
  const Side side(section);
  const int me = Runtime::get().world().rank();
  std::vector<std::byte> values = gather(side, me);
  broadcast(values.data(), static_cast<std::int64_t>(values.size()), root, group);
  spread(memory_of(side), side, values.data(), false, me);
}

}  // namespace
}  // namespace tca::xacc

using namespace tca::xacc;

void xacc_bcast_section(const xacc_section* what, const xacc_on* from, xacc_on on, int,
                        const xacc_place* at) {
  guarded(at, [&] {
    if (Group* group = group_of(on)) share(*what, root_of(from, *group), *group);
  });
}

void xacc_reduce_place(void* value, int type, int operation, int choice, const xacc_section* const* places,
                       int count, xacc_on on, const xacc_place* at) {
  guarded(at, [&] {
    Group* group = group_of(on);
    if (!group) return;
    std::byte mine[sizeof(long double)];
    const std::size_t bytes = bytes_of(type);
    std::memcpy(mine, value, bytes);
    reduce(value, 1, type, operation, *group);
    bool candidate = std::memcmp(mine, value, bytes) == 0;
    for (int i = 0; i < count && choice != XACC_FIRST_NODE; ++i)
      leave_best(candidate, *places[i], choice == XACC_LAST_PLACE, *group);
    const int nodes = static_cast<int>(group->ranks.size());
    std::int32_t owner = candidate ? group->me : nodes;
    reduce(&owner, 1, XACC_INT32, XACC_MIN, *group);
    if (owner == nodes) refuse("no node has the value that was found, so it has no place: is it a number?");
    for (int i = 0; i < count; ++i) share(*places[i], owner, *group);
  });
}
