// gmove: which way it takes, and what becomes of a single element.
#include "runtime/move/gmove.hpp"

#include <algorithm>

#include "runtime/check/checks.hpp"
#include "runtime/on_device.hpp"
#include "runtime/site.hpp"

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

// A section as it was.
class KnownSection {
 public:
  KnownSection() = default;
  explicit KnownSection(const xacc_section& s)
      : section_(s), version_(s.array && s.array->layout ? s.array->layout->version : 0) {}

  // Whether elements are where they were, apart from the place of memory that a rank has by itself.
  bool is(const xacc_section& s) const {
    bool same =
        s.array == section_.array && s.dims == section_.dims && s.element_bytes == section_.element_bytes;
    if (same && s.array) same = s.array->layout && s.array->layout->version == version_;
    for (int d = 0; same && d < s.dims; ++d)
      same = s.extent[d] == section_.extent[d] && s.base[d] == section_.base[d] &&
             s.count[d] == section_.count[d] && s.step[d] == section_.step[d];
    return same;
  }

 private:
  xacc_section section_{};
  std::uint64_t version_ = 0;
};

struct KnownMove {
  KnownSection to, from;
  Move* move = nullptr;  // null: to be set up
  Copies copies = {};
  bool on_device = false;
};

// Where the memory of both sides is.
enum class Between { host, device, both };

Between memory_between(int flags) {
  if (!(flags & (XACC_DEVICE | XACC_TO_DEVICE | XACC_FROM_DEVICE))) return Between::host;
  Device& device = Runtime::get().device();
  if (!device.is_separate()) return Between::host;
  return flags & XACC_DEVICE && device.stream(XACC_SYNC) ? Between::device : Between::both;
}

// Whether all that a gmove does is to move. Outside of tasks all ranks execute it, and `in` and `out` say nothing more.
bool moves_alone() { return !Runtime::get().in_task() && is_plain(); }

// Whether a single element is assigned to all of a section.
bool is_one_for_all(const Side& to, const Side& from) {
  if (to.section().element_bytes != from.section().element_bytes)
    refuse("gmove: elements of " + std::to_string(to.section().element_bytes) + " and " +
           std::to_string(from.section().element_bytes) + " bytes, which are not converted");
  if (from.counts().empty() && !to.counts().empty()) return true;
  if (to.counts() != from.counts()) refuse("gmove: the sides differ: " + to.shape() + " = " + from.shape());
  return false;
}

void* device_memory_of(const xacc_section& side) {
  Present& present = Runtime::get().present();
  if (!side.array) return present.address_of("a side", side.memory);
  return present.address_of(side.array->layout->name.c_str(), side.array->base);
}

// Returns whether it was one; a single element that goes to a whole section is none.
bool move_at(xacc_site& site, const xacc_section& to, const xacc_section& from, bool on_device) {
  auto& known = kept_at<KnownMove>(site);
  if (!known.move || !known.to.is(to) || !known.from.is(from) || known.on_device != on_device) {
    known = {};
    const Side left(to), right(from);
    if (is_one_for_all(left, right)) return false;
    Move& move = move_between(left, right, on_device);
    known = {KnownSection(to), KnownSection(from), &move, move.copies(left, right), on_device};
  }
  if (!on_device) return known.move->run(known.copies, memory_of(to), memory_of(from)), true;
  void *const into = device_memory_of(to), *const out_of = device_memory_of(from);
  Runtime::get().device().join();
  return known.move->run_in(XACC_SYNC, known.copies, into, out_of), true;
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

void xacc_gmove(const xacc_section* to, const xacc_section* from, int flags, xacc_site* site) {
  const auto on_host = [&](const xacc_section& s, int side, const auto& body) {
    if (!s.array)
      return where_they_are("a side", s.memory, bytes_of(s), flags & (side | XACC_DEVICE) ? XACC_DEVICE : 0,
                            body);
    if (s.array->layout)
      where_they_are(s.array->layout->name.c_str(), s.array->base, xacc_bytes(s.array),
                     flags & (side | XACC_DEVICE) ? XACC_DEVICE : 0, body);
  };
  guarded(&site->place, [&] {
    const Between between = memory_between(flags);
    if (moves_alone() && between != Between::both && move_at(*site, *to, *from, between == Between::device))
      return;
    const Side left(*to), right(*from);
    Checks* const checks = Runtime::get().checks();
    if (checks) checks->moved(*from, XACC_READ, flags & XACC_DEVICE, site->place);
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
    if (checks) checks->moved(*to, XACC_WRITE, flags & XACC_DEVICE, site->place);
  });
}
