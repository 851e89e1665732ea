// gmove in and out where others do not take part: what coarrays do, with the memory of distributed arrays.
#include <algorithm>

#include "runtime/images/images.hpp"
#include "runtime/move/gmove.hpp"

namespace tca::xacc {
namespace {

// The array's memory at another rank, as this rank names it.
const void* shared(const Side& side) {
  const xacc_array& array = *side.section().array;
  if (!Runtime::get().images().has(array.base))
    refuse("gmove: some of " + side.shape() +
           " lies with ranks that do not execute this, and only arrays that are declared outside of "
           "functions are reached without them: move the declaration, or the directive out of the task");
  return array.base;
}

// Calls `body` for what two sides have in common, with the steps of both.
template <class Body>
void for_common(const Side& to, int to_rank, const Side& from, int from_rank, Body body) {
  for (const Box& wanted : to.owned_by(to_rank))
    for (const Box& has : from.owned_by(from_rank))
      if (const Box box = intersection(wanted, has); volume(box) > 0)
        body(box, to.steps(box, to_rank), from.steps(box, from_rank));
}

}  // namespace

void move_in(const Side& to, const Side& from) {
  const int me = Runtime::get().world().rank();
  const std::size_t bytes = to.section().element_bytes;
  for (const int source : holders(from, ranks_with(from), me))
    for_common(to, me, from, source, [&](const Box& box, const Steps& here, const Steps& there) {
      if (source == me) return copy(memory_of(to), here, memory_of(from), there, box, bytes);
      std::vector<std::byte> values(static_cast<std::size_t>(volume(box)) * bytes);
      Runtime::get().images().get(shared(from), source, there, box, bytes, values.data());
      copy(memory_of(to), here, values.data(), dense(box), box, bytes);
    });
}

void move_out(const Side& to, const Side& from) {
  const int me = Runtime::get().world().rank();
  const std::size_t bytes = to.section().element_bytes;
  // Of those that execute and have the same, the first sends it.
  const std::vector<int>& executing = Runtime::get().executing_ranks();
  const std::vector<int> senders = holders(from, executing, executing.front());
  if (std::find(senders.begin(), senders.end(), me) == senders.end()) return;
  for (const int target : ranks_with(to))
    for_common(to, target, from, me, [&](const Box& box, const Steps& there, const Steps& here) {
      if (target == me) return copy(memory_of(to), there, memory_of(from), here, box, bytes);
      std::vector<std::byte> values(static_cast<std::size_t>(volume(box)) * bytes);
      copy(values.data(), dense(box), memory_of(from), here, box, bytes);
      Runtime::get().images().put(shared(to), target, there, box, bytes, values.data());
    });
}

}  // namespace tca::xacc

using namespace tca::xacc;

void xacc_array_share(xacc_array* a, const xacc_place* at) {
  guarded(at, [&] { Runtime::get().images().adopt(a->base, a->layout->name.c_str(), xacc_bytes(a)); });
}
