// Recursive doubling: partners differ in one bit of their numbers, and what each knows doubles in each round.
// Allgather of 2^k ranks, allreduce of any number.
//
//   round 1   0 <-> 1   2 <-> 3   4 <-> 5   6 <-> 7
//   round 2   0 <-> 2   1 <-> 3   4 <-> 6   5 <-> 7
//   round 3   0 <-> 4   1 <-> 5   2 <-> 6   3 <-> 7
//
// Six ranks: 1 -> 0 and 3 -> 2 first; then 0 2 4 5 exchange as four ranks; then 0 -> 1 and 2 -> 3.
#include <bit>

#include "coll/algorithms/algorithms.hpp"

namespace tca::coll {

namespace {

std::optional<Schedule> all_gather(const Problem& p) {
  if (!std::has_single_bit(static_cast<unsigned>(p.ranks))) return std::nullopt;
  Schedule schedule;
  for (int have = 1; have < p.ranks; have *= 2) {
    Round& round = schedule.rounds.emplace_back();
    const int partner = p.rank ^ have;
    const std::int64_t first = (p.rank & ~(have - 1)) * p.count;
    if (have == 1) {
      round.puts.push_back({partner, Buffer::output, first, Buffer::input, 0, p.count});
      if (!p.in_place) round.copies.push_back({{Buffer::output, first}, {{Buffer::input, 0}}, p.count});
    } else {
      round.puts.push_back({partner, Buffer::output, first, Buffer::output, first, have * p.count});
    }
    round.expected.push_back(partner);
  }
  return schedule;
}

// If p exceeds a power of two by e, each even rank among the first 2e also represents its upper neighbour.
// Ranks keep their order throughout, and a combination has the lower ranks on its left.
class AllReduce {
 public:
  explicit AllReduce(const Problem& problem)
      : p_(problem),
        members_(static_cast<int>(std::bit_floor(static_cast<unsigned>(p_.ranks)))),
        extra_(p_.ranks - members_),
        folds_(p_.rank < 2 * extra_) {}

  Schedule make() {
    if (extra_ > 0) fold();
    for (int bit = 1; bit < members_; bit *= 2) exchange(bit);
    if (extra_ > 0) unfold();
    schedule_.scratch = slot_ * p_.count;
    return std::move(schedule_);
  }

 private:
  bool is_member() const { return !folds_ || p_.rank % 2 == 0; }
  int member_of(int rank) const { return rank < 2 * extra_ ? rank / 2 : rank - extra_; }
  int rank_of(int member) const { return member < extra_ ? 2 * member : member + extra_; }

  // The values that this rank has combined so far.
  Slice own() const { return {combined_ ? Buffer::output : Buffer::input, 0}; }

  void combine_with_slot(Round& round, bool own_is_lower) {
    const Slice theirs{Buffer::scratch, slot_ * p_.count};
    round.combines.push_back(
        {{Buffer::output, 0}, {own_is_lower ? own() : theirs, own_is_lower ? theirs : own()}, p_.count});
    combined_ = true;
  }

  void fold() {
    Round& round = schedule_.rounds.emplace_back();
    if (folds_ && is_member()) {
      round.expected.push_back(p_.rank + 1);
      combine_with_slot(round, true);
    } else if (folds_) {
      round.puts.push_back({p_.rank - 1, Buffer::scratch, 0, Buffer::input, 0, p_.count});
    }
    ++slot_;
  }

  void exchange(int bit) {
    Round& round = schedule_.rounds.emplace_back();
    if (is_member()) {
      const int me = member_of(p_.rank), partner = rank_of(me ^ bit);
      round.puts.push_back({partner, Buffer::scratch, slot_ * p_.count, own().buffer, 0, p_.count});
      round.expected.push_back(partner);
      combine_with_slot(round, (me & bit) == 0);
    }
    ++slot_;
  }

  void unfold() {
    Round& round = schedule_.rounds.emplace_back();
    if (folds_ && is_member()) {
      round.puts.push_back({p_.rank + 1, Buffer::output, 0, Buffer::output, 0, p_.count});
    } else if (folds_) {
      round.expected.push_back(p_.rank - 1);
    }
  }

  const Problem& p_;
  int members_, extra_;
  bool folds_;
  bool combined_ = false;
  // every round has its own place in scratch, so that none waits for the one before it
  std::int64_t slot_ = 0;
  Schedule schedule_;
};

}  // namespace

std::optional<Schedule> recursive_doubling(const Problem& p) {
  if (p.kind == CollectiveKind::all_gather) return all_gather(p);
  if (p.kind == CollectiveKind::all_reduce) return AllReduce(p).make();
  return std::nullopt;
}

}  // namespace tca::coll
