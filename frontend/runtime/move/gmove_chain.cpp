// A gmove of all ranks that execute: each gets what it owns of the left side from the nearest that has it, by puts of a chain that
// is made once for two sections. Where both sides are one array, or the left one is not distributed or
// transposed, what comes from others waits in memory of the chain's until everything has been read.
#include <algorithm>
#include <set>

#include "runtime/move/gmove.hpp"

namespace tca::xacc {
namespace {

// Some steps of what a rank owns, and how many of its elements come before the box that they are part of.
struct Share {
  int source;
  Box box;
  Box of;
  std::int64_t before;
};

class Gmove : public Move {
 public:
  Gmove(const Side& to, const Side& from, Group& group, bool on_device)
      : group_(group),
        element_bytes_(to.section().element_bytes),
        staged_(is_staged(to, from)),
        on_device_(on_device) {
    std::int64_t most = 1;
    for (const int rank : group.ranks) most = std::max(most, elements(to.owned_by(rank)));
    if (staged_ && from.section().array)
      stage_ = &Runtime::get().allocate(to.section().element_bytes, most, "gmove");
    check_all_execute(to);
    make_chain(to, from);
  }

  // What a rank gets from itself needs the stage only where it would overwrite what is still to be read.
  Copies copies(const Side& to, const Side& from) const override {
    const int me = group_.ranks[static_cast<std::size_t>(group_.me)];
    Copies all;
    for (const Share& share : mine_) {
      const Steps end = to.steps(share.box, me);
      const bool own = share.source == me, direct = own && !is_one_array(to, from);
      if (own)
        (direct ? all.own : all.to_stage)
            .push_back({share.box, direct ? end : target_steps(to, share, me), from.steps(share.box, me)});
      if (stage_ && !direct) all.from_stage.push_back({share.box, end, target_steps(to, share, me)});
    }
    return all;
  }

  void run(const Copies& copies, void* to, const void* from) override {
    void* const stage = stage_ ? stage_->window.data() : nullptr;
    if (chain_) chain_->start();
    copy_all(copies.own, to, from);
    copy_all(copies.to_stage, stage, from);
    if (chain_) chain_->wait();
    copy_all(copies.from_stage, to, stage);
  }

  void run_in(std::int64_t queue, const Copies& copies, void* to, const void* from) override {
    Device& device = Runtime::get().device();
    void* const stage = stage_ ? stage_->on_device().data() : nullptr;
    if (chain_) chain_->run(device.stream(queue));
    std::vector<BoxCopy> first, then;
    for (const Copied& one : copies.to_stage) first.push_back({stage, from, &one});
    for (const Copied& one : copies.own) then.push_back({to, from, &one});
    for (const Copied& one : copies.from_stage) then.push_back({to, stage, &one});
    device.copy_boxes(first, element_bytes_, queue);
    device.copy_boxes(then, element_bytes_, queue);
  }

 private:
  static bool is_one_array(const Side& to, const Side& from) {
    return to.section().array && from.section().array &&
           to.section().array->layout->storage == from.section().array->layout->storage;
  }

  static bool is_staged(const Side& to, const Side& from) {
    return !to.section().array || !from.section().array || to.transposed() || is_one_array(to, from);
  }

  void copy_all(const std::vector<Copied>& all, void* to, const void* from) const {
    for (const Copied& one : all) copy(to, one.to, from, one.from, one.box, element_bytes_);
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

  // What `rank` gets, and from whom.
  std::vector<Share> shares(const Side& to, const Side& from, int rank) const {
    std::vector<Share> found;
    const std::vector<Box> wanted = to.owned_by(rank);
    std::int64_t left = elements(wanted);
    for (const int source : holders(from, group_.ranks, rank))
      for (const Box& has : from.owned_by(source)) {
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

  // Sorts what this rank gets: from itself, and from whom else.
  void make_chain(const Side& to, const Side& from) {
    const int me = group_.ranks[static_cast<std::size_t>(group_.me)];
    std::vector<std::pair<int, Share>> sent;  // to a rank, by its number
    std::set<int> expected;
    for (std::size_t r = 0; r < group_.ranks.size(); ++r) {
      const bool to_me = group_.ranks[r] == me;
      for (Share& share : shares(to, from, group_.ranks[r])) {
        if (to_me && share.source != me) expected.insert(number_of(share.source));
        if (to_me)
          mine_.push_back(std::move(share));
        else if (share.source == me)
          sent.emplace_back(static_cast<int>(r), std::move(share));
      }
    }
    if (from.section().array) commit(to, from, sent, expected);  // otherwise everybody has it
  }

  void commit(const Side& to, const Side& from, const std::vector<std::pair<int, Share>>& sent,
              const std::set<int>& expected) {
    const int me = group_.ranks[static_cast<std::size_t>(group_.me)];
    const raw::Window into = view(stage_ ? stage_ : to.section().array->layout->storage),
                      source = view(from.section().array->layout->storage);
    Chain chain = group_.world->chain("gmove");
    for (const int rank : expected) chain.expect(rank);
    for (const auto& [target, share] : sent) {
      const Steps there = target_steps(to, share, group_.ranks[static_cast<std::size_t>(target)]);
      for (const Piece& piece : pieces(there, from.steps(share.box, me), share.box))
        chain.put(into.on(target).at(piece.to), piece.to_layout, source.at(piece.from), piece.from_layout);
    }
    chain.commit();
    chain_.emplace(std::move(chain));
  }

  int number_of(int rank) const {
    return static_cast<int>(std::find(group_.ranks.begin(), group_.ranks.end(), rank) - group_.ranks.begin());
  }

  [[noreturn]] static void refuse_absent(const Side& side) {
    refuse("gmove: some of " + side.shape() +
           " lies with ranks that do not execute this: move the directive out of the task, or make it a "
           "gmove in or out");
  }

  static void check_all_execute(const Side& to) {
    if (!executed_by_all_of(to)) refuse_absent(to);
  }

  raw::Window view(Storage* storage) const {
    if (!storage)
      refuse(
          "gmove: an array is memory that no directive has made, which other ranks cannot reach: align it "
          "where it is declared");
    const raw::Window& window = on_device_ ? storage->on_device() : storage->window;
    return storage->group == &group_ ? window : group_.world->view(window);
  }

  Group& group_;
  std::size_t element_bytes_;
  bool staged_, on_device_;
  std::vector<Share> mine_;  // what this rank gets
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

Move& move_between(const Side& to, const Side& from, bool on_device) {
  Runtime& runtime = Runtime::get();
  runtime.meet(runtime.executing_ranks());
  auto& slot = runtime.moves[key_of(to, from) + (on_device ? " on devices" : "")];
  if (!slot) slot = std::make_shared<Gmove>(to, from, runtime.executing(), on_device);
  return *std::static_pointer_cast<Gmove>(slot);
}

void move_together(const Side& to, const Side& from) {
  Move& move = move_between(to, from);
  move.run(move.copies(to, from), memory_of(to), memory_of(from));
}

}  // namespace tca::xacc
