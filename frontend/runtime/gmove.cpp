// gmove: every rank gets what it owns of the left side from the nearest that has it, by puts of a chain that
// is made once for two sections. Where both sides are one array, or the left one is not distributed, what
// comes waits in memory of the chain's until everything has been read.
#include <algorithm>

#include "runtime/section.hpp"

namespace tca::xacc {
namespace {

class Gmove {
 public:
  Gmove(const Side& to, const Side& from, Group& group) : group_(group), staged_(is_staged(to, from)) {
    const int me = group.ranks[static_cast<std::size_t>(group.me)];
    mine_ = to.owned_by(me);
    if (!from.section().array) return;
    std::int64_t most = 1;
    for (const int rank : group.ranks) most = std::max(most, volume(to.owned_by(rank)));
    const std::size_t bytes = to.section().element_bytes;
    if (staged_) stage_ = &Runtime::get().allocate(bytes, most, "gmove");
    make_chain(to, from, me);
  }

  void run(const Side& to, const Side& from) {
    const std::size_t bytes = to.section().element_bytes;
    const int me = group_.ranks[static_cast<std::size_t>(group_.me)];
    const void* source = from.section().array ? from.section().array->base : from.section().memory;
    void* target = to.section().array ? to.section().array->base : to.section().memory;
    if (!from.section().array)
      return copy(target, to.steps(mine_, me), source, from.steps(mine_, me), mine_, bytes);
    void* into = staged_ ? stage_->window.data() : target;
    for (const Box& box : own_)
      copy(into, target_steps(to, box, mine_, me), source, from.steps(box, me), box, bytes);
    if (chain_) chain_->run();
    if (staged_) copy(target, to.steps(mine_, me), into, dense(mine_, mine_), mine_, bytes);
  }

 private:
  static bool is_staged(const Side& to, const Side& from) {
    if (!to.section().array || !from.section().array) return true;
    return to.section().array->layout->storage == from.section().array->layout->storage;
  }

  // Where a box is within one that lies row by row.
  static Steps dense(const Box& box, const Box& whole) {
    Steps steps{0, std::vector<std::int64_t>(whole.size())};
    std::int64_t pitch = 1;
    for (std::size_t d = whole.size(); d-- > 0;) {
      steps.pitch[d] = pitch;
      steps.first += (box[d].begin - whole[d].begin) * pitch;
      pitch *= whole[d].size();
    }
    return steps;
  }

  Steps target_steps(const Side& to, const Box& box, const Box& whole, int rank) const {
    return staged_ ? dense(box, whole) : to.steps(box, rank);
  }

  // What `rank` gets, and from whom: of those that have the same, the nearest.
  std::vector<std::pair<int, Box>> sources(const Side& to, const Side& from, int rank) const {
    std::vector<std::pair<int, Box>> found;
    const Box wanted = to.owned_by(rank);
    const auto me = std::find(group_.ranks.begin(), group_.ranks.end(), rank) - group_.ranks.begin();
    const auto size = static_cast<std::ptrdiff_t>(group_.ranks.size());
    for (std::ptrdiff_t i = 0; i < size; ++i) {
      const auto source = static_cast<int>((me + i) % size);
      const Box box = intersection(wanted, from.owned_by(group_.ranks[static_cast<std::size_t>(source)]));
      if (volume(box) <= 0) continue;
      const bool known = std::any_of(found.begin(), found.end(),
                                     [&](const auto& f) { return volume(intersection(f.second, box)) > 0; });
      if (!known) found.emplace_back(source, box);
    }
    return found;
  }

  void make_chain(const Side& to, const Side& from, int me) {
    Chain chain = group_.world->chain("gmove");
    const raw::Window source = view(from.section().array->layout->storage);
    check_all_execute(to);
    const raw::Window target = view(staged_ ? stage_ : to.section().array->layout->storage);
    for (std::size_t r = 0; r < group_.ranks.size(); ++r) {
      const int rank = group_.ranks[r];
      const Box whole = to.owned_by(rank);
      std::int64_t left = volume(whole);
      for (const auto& [s, box] : sources(to, from, rank)) {
        left -= volume(box);
        const bool to_me = rank == me, from_me = s == group_.me;
        if (to_me && from_me) own_.push_back(box);
        if (to_me && !from_me) chain.expect(s);
        if (to_me || !from_me) continue;
        for (const Piece& piece : pieces(target_steps(to, box, whole, rank), from.steps(box, me), box))
          chain.put(target.on(static_cast<int>(r)).at(piece.to), piece.to_layout, source.at(piece.from),
                    piece.from_layout);
      }
      if (left > 0) refuse_absent(from);
    }
    chain.commit();
    chain_.emplace(std::move(chain));
  }

  // A gmove `in` or `out` too is done by the ranks that execute it, so these must be all that it concerns.
  [[noreturn]] static void refuse_absent(const Side& side) {
    refuse("gmove: some of " + side.shape() +
           " lies with ranks that do not execute this: move the directive out of the task");
  }

  void check_all_execute(const Side& to) const {
    if (!to.section().array) return;
    for (const int rank : ranks_of(xacc_on_nodes(to.section().array->layout->on->nodes, nullptr, nullptr)))
      if (volume(to.owned_by(rank)) > 0 &&
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
  Box mine_;
  std::vector<Box> own_;  // what this rank gets from itself
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

}  // namespace
}  // namespace tca::xacc

using namespace tca::xacc;

void xacc_gmove(const xacc_section* to, const xacc_section* from, int, const xacc_place* at) {
  guarded(at, [&] {
    const Side left(*to), right(*from);
    if (to->element_bytes != from->element_bytes)
      refuse("gmove: elements of " + std::to_string(to->element_bytes) + " and " +
             std::to_string(from->element_bytes) + " bytes, which are not converted");
    if (left.counts() != right.counts())
      refuse("gmove: the sides differ: " + left.shape() + " = " + right.shape());
    Runtime& runtime = Runtime::get();
    runtime.meet(runtime.executing_ranks());
    auto& slot = runtime.moves[key_of(left, right)];
    if (!slot) slot = std::make_shared<Gmove>(left, right, runtime.executing());
    std::static_pointer_cast<Gmove>(slot)->run(left, right);
  });
}
