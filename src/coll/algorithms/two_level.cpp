// Two levels: every rank puts to every other in its sub-cluster, and then the result crosses to the ranks at
// the same position in the other sub-clusters. Barrier, allgather, allreduce over {0 1 2 3} and {4 5 6 7}:
//
//   round 1   0 -> 1 2 3   1 -> 2 3 0   2 -> 3 0 1   3 -> 0 1 2   and so 4 5 6 7
//   round 2   0 <-> 4      1 <-> 5      2 <-> 6      3 <-> 7
//
// If another sub-cluster is larger, some ranks serve several positions of it.
#include "coll/algorithms/algorithms.hpp"
#include "coll/groups.hpp"

namespace tca::coll {

namespace {

class TwoLevel {
 public:
  explicit TwoLevel(const Problem& problem)
      : p_(problem), groups_(p_), size_(static_cast<int>(groups_.own_members().size())) {}

  Schedule barrier() {
    here(Buffer::output, 0, 0);
    across(Buffer::output, 0, 0, 0);
    return std::move(schedule_);
  }

  Schedule all_gather() {
    const std::int64_t mine = p_.rank * p_.count;
    here(Buffer::output, mine, p_.count);
    if (!p_.in_place)
      schedule_.rounds[0].copies.push_back({{Buffer::output, mine}, {{Buffer::input, 0}}, p_.count});
    schedule_.rounds.emplace_back();
    for_each_range(groups_.own_members(), p_.count, [&](std::int64_t first, std::int64_t count) {
      across_in(schedule_.rounds[1], Buffer::output, first, first, count);
    });
    return std::move(schedule_);
  }

  // Combines in rank order within a sub-cluster, and then in the order of sub-clusters, which gives the
  // same bits everywhere.
  Schedule all_reduce() {
    here(Buffer::scratch, slot(groups_.own_place()), p_.count);
    schedule_.rounds[0].combines.push_back(in_order({Buffer::output, 0}, p_.count, {size_, 0, p_.count},
                                                    groups_.own_place(), {Buffer::input, 0}));

    const int first = groups_.largest();  // the slots of the places come first
    across(Buffer::scratch, slot(first + groups_.own()), 0, p_.count);
    schedule_.rounds[1].combines.push_back(in_order({Buffer::output, 0}, p_.count,
                                                    {groups_.count(), slot(first), p_.count}, groups_.own(),
                                                    {Buffer::output, 0}));
    schedule_.scratch = slot(first + groups_.count());
    return std::move(schedule_);
  }

 private:
  std::int64_t slot(int place) const { return place * p_.count; }

  void here(Buffer to, std::int64_t to_first, std::int64_t count) {
    Round& round = schedule_.rounds.emplace_back();
    for (int i = 1; i < size_; ++i) {
      const int other = groups_.own_members()[static_cast<std::size_t>((groups_.own_place() + i) % size_)];
      round.puts.push_back({other, to, to_first, Buffer::input, 0, count});
      round.expected.push_back(other);
    }
  }

  void across(Buffer to, std::int64_t to_first, std::int64_t from_first, std::int64_t count) {
    across_in(schedule_.rounds.emplace_back(), to, to_first, from_first, count);
  }

  void across_in(Round& round, Buffer to, std::int64_t to_first, std::int64_t from_first,
                 std::int64_t count) const {
    for (int i = 1; i < groups_.count(); ++i) {
      const std::vector<int>& others = groups_.members((groups_.own() + i) % groups_.count());
      const int their_size = static_cast<int>(others.size());
      for (int place = groups_.own_place(); place < their_size; place += size_)
        round.puts.push_back(
            {others[static_cast<std::size_t>(place)], to, to_first, Buffer::output, from_first, count});
      round.expect(others[static_cast<std::size_t>(groups_.own_place() % their_size)]);
    }
  }

  const Problem& p_;
  Groups groups_;
  int size_;
  Schedule schedule_;
};

}  // namespace

std::optional<Schedule> two_level(const Problem& p) {
  const Groups groups(p);
  if (groups.count() == 1) return std::nullopt;
  if (p.kind == CollectiveKind::barrier) return TwoLevel(p).barrier();
  if (p.kind == CollectiveKind::all_gather) return TwoLevel(p).all_gather();
  if (p.kind == CollectiveKind::all_reduce && (!p.own_operation || groups.consecutive()))
    return TwoLevel(p).all_reduce();
  return std::nullopt;
}

}  // namespace tca::coll
