// gmove: every rank gets what it owns of the left side from the nearest that has it, by puts of a chain that
// is made once for two sections. Where both sides are one array, or the left one is not distributed or
// transposed, what comes waits in memory of the chain's until everything has been read.
#include "runtime/gmove.hpp"

#include <algorithm>

#include "runtime/on_device.hpp"

namespace tca::xacc {
namespace {

// Of memory that every rank has by itself.
std::size_t bytes_of(const xacc_section& section) {
  std::size_t bytes = section.element_bytes;
  for (int d = 0; d < section.dims; ++d) bytes *= static_cast<std::size_t>(section.extent[d]);
  return bytes;
}

// Some steps of what a rank owns, and how many of its elements come before the box that they are part of.
struct Share {
  int source;  // by its number in the group
  Box box;
  Box of;
  std::int64_t before;
};

class Gmove {
 public:
  Gmove(const Side& to, const Side& from, Group& group) : group_(group), staged_(is_staged(to, from)) {
    std::int64_t most = 1;
    for (const int rank : group.ranks) most = std::max(most, elements(to.owned_by(rank)));
    if (staged_ && from.section().array)
      stage_ = &Runtime::get().allocate(to.section().element_bytes, most, "gmove");
    check_all_execute(to);
    make_chain(to, from);
  }

  void run(const Side& to, const Side& from) {
    const std::size_t bytes = to.section().element_bytes;
    const int me = group_.ranks[static_cast<std::size_t>(group_.me)];
    void* into = stage_ ? stage_->window.data() : memory_of(to);
    for (const Share& share : own_)
      copy(into, target_steps(to, share, me), memory_of(from), from.steps(share.box, me), share.box, bytes);
    if (chain_) chain_->run();
    if (!stage_) return;
    std::int64_t before = 0;
    for (const Box& box : to.owned_by(me)) {
      copy(memory_of(to), to.steps(box, me), into, target_steps(to, {0, box, box, before}, me), box, bytes);
      before += volume(box);
    }
  }

 private:
  static bool is_staged(const Side& to, const Side& from) {
    if (!to.section().array || !from.section().array || to.transposed()) return true;
    return to.section().array->layout->storage == from.section().array->layout->storage;
  }

  static std::int64_t elements(const std::vector<Box>& boxes) {
    std::int64_t all = 0;
    for (const Box& box : boxes) all += volume(box);
    return all;
  }

  Steps target_steps(const Side& to, const Share& share, int rank) const {
    if (!stage_) return to.steps(share.box, rank);
    Steps steps = dense(share.box, share.of);
    steps.first += share.before;
    return steps;
  }

  // The ranks that have different parts of a side: of those that have the same one, the nearest to `rank`.
  std::vector<int> sources_for(const Side& from, int rank) const {
    std::vector<int> found;
    std::vector<std::vector<int>> known;
    const auto me = std::find(group_.ranks.begin(), group_.ranks.end(), rank) - group_.ranks.begin();
    const auto size = static_cast<std::ptrdiff_t>(group_.ranks.size());
    for (std::ptrdiff_t i = 0; i < size; ++i) {
      const auto source = static_cast<int>((me + i) % size);
      const auto part = from.part(group_.ranks[static_cast<std::size_t>(source)]);
      if (!part || std::find(known.begin(), known.end(), *part) != known.end()) continue;
      known.push_back(*part);
      found.push_back(source);
    }
    return found;
  }

  // What `rank` gets, and from whom.
  std::vector<Share> shares(const Side& to, const Side& from, int rank) const {
    std::vector<Share> found;
    const std::vector<Box> wanted = to.owned_by(rank);
    std::int64_t left = elements(wanted);
    for (const int source : sources_for(from, rank))
      for (const Box& has : from.owned_by(group_.ranks[static_cast<std::size_t>(source)])) {
        std::int64_t before = 0;
        for (const Box& box : wanted) {
          Box both = intersection(box, has);
          left -= volume(both);
          if (volume(both) > 0) found.push_back({source, std::move(both), box, before});
          before += volume(box);
        }
      }
    if (left > 0) refuse_absent(from);
    return found;
  }

  void make_chain(const Side& to, const Side& from) {
    const int me = group_.ranks[static_cast<std::size_t>(group_.me)];
    Chain chain = group_.world->chain("gmove");
    for (std::size_t r = 0; r < group_.ranks.size(); ++r) {
      const int rank = group_.ranks[r];
      std::vector<int> expected;
      for (Share& share : shares(to, from, rank)) {
        if (rank == me && share.source == group_.me)
          own_.push_back(std::move(share));
        else if (rank == me)
          expected.push_back(share.source);
        else if (share.source == group_.me)
          put(chain, to, from, share, static_cast<int>(r));
      }
      std::sort(expected.begin(), expected.end());
      expected.erase(std::unique(expected.begin(), expected.end()), expected.end());
      for (const int source : expected) chain.expect(source);
    }
    if (!from.section().array) return;  // everybody has it
    chain.commit();
    chain_.emplace(std::move(chain));
  }

  void put(Chain& chain, const Side& to, const Side& from, const Share& share, int target) const {
    const int me = group_.ranks[static_cast<std::size_t>(group_.me)],
              rank = group_.ranks[static_cast<std::size_t>(target)];
    const raw::Window into = view(stage_ ? stage_ : to.section().array->layout->storage),
                      source = view(from.section().array->layout->storage);
    for (const Piece& piece : pieces(target_steps(to, share, rank), from.steps(share.box, me), share.box))
      chain.put(into.on(target).at(piece.to), piece.to_layout, source.at(piece.from), piece.from_layout);
  }

  // A gmove `in` or `out` too is done by the ranks that execute it, so these must be all that it concerns.
  [[noreturn]] static void refuse_absent(const Side& side) {
    refuse("gmove: some of " + side.shape() +
           " lies with ranks that do not execute this: move the directive out of the task");
  }

  void check_all_execute(const Side& to) const {
    if (!to.section().array) return;
    for (const int rank : ranks_of(xacc_on_nodes(to.section().array->layout->on->nodes, nullptr, nullptr)))
      if (!to.owned_by(rank).empty() &&
          std::find(group_.ranks.begin(), group_.ranks.end(), rank) == group_.ranks.end())
        refuse_absent(to);
  }

  raw::Window view(Storage* storage) const {
    if (!storage)
      refuse(
          "gmove: an array is memory that no directive has made, which other ranks cannot reach: align it "
          "where it is declared");
    return storage->group == &group_ ? storage->window : group_.world->view(storage->window);
  }

  Group& group_;
  bool staged_;
  std::vector<Share> own_;  // what this rank gets from itself
  Storage* stage_ = nullptr;
  std::optional<Chain> chain_;
};

std::string key_of(const Side& to, const Side& from) {
  const auto storage = [](const Side& side) {
    const void* where = side.section().array ? side.section().array->layout->storage : nullptr;
    return std::to_string(reinterpret_cast<std::uintptr_t>(where));
  };
  return to.describe() + "=" + from.describe() + "@" + storage(to) + "," + storage(from);
}

// A single element for all of a section: each rank gets it, and has it over and over.
void move_one(const Side& to, const Side& from) {
  std::vector<std::byte> value(from.section().element_bytes);
  xacc_section one{};
  one.memory = value.data();
  one.element_bytes = value.size();
  move(Side(one), from);
  const int me = Runtime::get().world().rank();
  for (const Box& box : to.owned_by(me))
    copy(memory_of(to), to.steps(box, me), value.data(), {0, std::vector<std::int64_t>(box.size())}, box,
         value.size());
}

}  // namespace

void move(const Side& to, const Side& from) {
  if (to.section().element_bytes != from.section().element_bytes)
    refuse("gmove: elements of " + std::to_string(to.section().element_bytes) + " and " +
           std::to_string(from.section().element_bytes) + " bytes, which are not converted");
  if (from.counts().empty() && !to.counts().empty()) return move_one(to, from);
  if (to.counts() != from.counts()) refuse("gmove: the sides differ: " + to.shape() + " = " + from.shape());
  Runtime& runtime = Runtime::get();
  runtime.meet(runtime.executing_ranks());
  auto& slot = runtime.moves[key_of(to, from)];
  if (!slot) slot = std::make_shared<Gmove>(to, from, runtime.executing());
  std::static_pointer_cast<Gmove>(slot)->run(to, from);
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
    on_host(*from, XACC_FROM_DEVICE,
            [&] { on_host(*to, XACC_TO_DEVICE, [&] { move(Side(*to), Side(*from)); }); });
  });
}
