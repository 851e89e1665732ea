// gmove: which way it takes, and what becomes of a single element.
#include "runtime/move/gmove.hpp"

#include <algorithm>

#include "runtime/check/checks.hpp"
#include "runtime/on_device.hpp"

namespace tca::xacc {
namespace {

// Of memory that every rank has by itself.
std::size_t bytes_of(const xacc_section& section) {
  std::size_t bytes = section.element_bytes;
  for (int d = 0; d < section.dims; ++d) bytes *= static_cast<std::size_t>(section.extent[d]);
  return bytes;
}

// One element goes to all of a section that others own as well.
void send_over_and_over(const Side& to, const std::vector<std::byte>& value) {
  xacc_section all{};
  all.element_bytes = value.size();
  std::vector<std::byte> values;
  for (std::int64_t i = 0; i < volume(whole(to)); ++i)
    values.insert(values.end(), value.begin(), value.end());
  all.memory = values.data();
  for (const std::int64_t count : to.counts()) {
    all.extent[all.dims] = all.count[all.dims] = count;
    all.step[all.dims++] = 1;
  }
  move_out(to, Side(all));
}

// Every rank that executes gets a single element first, by `fetch`, and then has it over and over.
template <class Move>
void move_one(const Side& to, const Side& from, Move fetch, bool out) {
  std::vector<std::byte> value(from.section().element_bytes);
  xacc_section one{};
  one.memory = value.data();
  one.element_bytes = value.size();
  fetch(Side(one), from);
  if (out) return send_over_and_over(to, value);
  const int me = Runtime::get().world().rank();
  for (const Box& box : to.owned_by(me))
    copy(memory_of(to), to.steps(box, me), value.data(), {0, std::vector<std::int64_t>(box.size())}, box,
         value.size());
}

// Whether a single element is assigned to all of a section.
bool is_one_for_all(const Side& to, const Side& from) {
  if (to.section().element_bytes != from.section().element_bytes)
    refuse("gmove: elements of " + std::to_string(to.section().element_bytes) + " and " +
           std::to_string(from.section().element_bytes) + " bytes, which are not converted");
  if (from.counts().empty() && !to.counts().empty()) return true;
  if (to.counts() != from.counts()) refuse("gmove: the sides differ: " + to.shape() + " = " + from.shape());
  return false;
}

}  // namespace

bool executed_by_all_of(const Side& side) {
  const std::vector<int>& executing = Runtime::get().executing_ranks();
  const std::vector<int> ranks = ranks_with(side);
  return std::all_of(ranks.begin(), ranks.end(), [&](int rank) {
    return std::find(executing.begin(), executing.end(), rank) != executing.end();
  });
}

void move(const Side& to, const Side& from) {
  if (is_one_for_all(to, from)) return move_one(to, from, move_together, false);
  move_together(to, from);
}

}  // namespace tca::xacc

using namespace tca::xacc;

void xacc_gmove(const xacc_section* to, const xacc_section* from, int flags, const xacc_place* at) {
  const auto on_host = [&](const xacc_section& s, int side, const auto& body) {
    if (!s.array)
      return where_they_are("a side", s.memory, bytes_of(s), flags & (side | XACC_DEVICE) ? XACC_DEVICE : 0,
                            body);
    if (s.array->layout)
      where_they_are(s.array->layout->name.c_str(), s.array->base, xacc_bytes(s.array),
                     flags & (side | XACC_DEVICE) ? XACC_DEVICE : 0, body);
  };
  guarded(at, [&] {
    const Side left(*to), right(*from);
    Checks* const checks = Runtime::get().checks();
    if (checks) checks->moved(*from, XACC_READ, flags & XACC_DEVICE, *at);
    const bool in = (flags & XACC_IN) && !executed_by_all_of(right),
               out = (flags & XACC_OUT) && !executed_by_all_of(left);
    on_host(*from, XACC_FROM_DEVICE, [&] {
      on_host(*to, XACC_TO_DEVICE, [&] {
        if (!in && !out)
          move(left, right);
        else if (is_one_for_all(left, right))
          move_one(left, right, in ? move_in : move_together, out);
        else
          in ? move_in(left, right) : move_out(left, right);
      });
    });
    if (checks) checks->moved(*to, XACC_WRITE, flags & XACC_DEVICE, *at);
  });
}
