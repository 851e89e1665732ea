// Flat to leaders: every rank puts to one rank of every sub-cluster, which combines what arrives and passes
// the result on to its members. More messages cross than between leaders alone, but a rank waits for another
// sub-cluster only once. That pays where ranks share cores, since there each wait takes a turn of all ranks.
// Barrier, allgather, allreduce over {0 1 2 3} and {4 5 6 7}:
//
//   round 1   1 2 3 4 5 6 7 -> 0      0 1 2 3 5 6 7 -> 4
//   round 2   0 -> 1 2 3              4 -> 5 6 7
#include "coll/algorithms/algorithms.hpp"
#include "coll/groups.hpp"

namespace tca::coll {

namespace {

class FlatToLeaders {
 public:
  explicit FlatToLeaders(const Problem& problem) : p_(problem), groups_(p_), schedule_{{{}, {}}, 0} {}

  Schedule barrier() {
    up(Buffer::output, 0, 0);
    down(0);
    return std::move(schedule_);
  }

  Schedule all_gather() {
    const std::int64_t mine = p_.rank * p_.count;
    up(Buffer::output, mine, p_.count);
    if (leads() && !p_.in_place)
      schedule_.rounds[0].copies.push_back({{Buffer::output, mine}, {{Buffer::input, 0}}, p_.count});
    down(p_.ranks * p_.count);
    return std::move(schedule_);
  }

  // Every leader combines all contributions in rank order, which gives the same bits everywhere.
  Schedule all_reduce() {
    up(Buffer::scratch, p_.rank * p_.count, p_.count);
    if (leads())
      schedule_.rounds[0].combines.push_back(
          in_order({Buffer::output, 0}, p_.count, {p_.ranks, 0, p_.count}, p_.rank, {Buffer::input, 0}));
    down(p_.count);
    schedule_.scratch = p_.ranks * p_.count;
    return std::move(schedule_);
  }

 private:
  int leader(int group) const { return groups_.members(group)[0]; }
  bool leads() const { return leader(groups_.own()) == p_.rank; }

  void up(Buffer to, std::int64_t first, std::int64_t count) {
    Round& round = schedule_.rounds[0];
    for (int i = 0; i < groups_.count(); ++i) {
      const int there = leader((groups_.own() + i) % groups_.count());
      if (there != p_.rank) round.puts.push_back({there, to, first, Buffer::input, 0, count});
    }
    for (int rank = 0; leads() && rank < p_.ranks; ++rank)
      if (rank != p_.rank) round.expected.push_back(rank);
  }

  void down(std::int64_t count) {
    Round& round = schedule_.rounds[1];
    if (!leads()) return round.expect(leader(groups_.own()));
    for (const int member : groups_.own_members())
      if (member != p_.rank) round.puts.push_back({member, Buffer::output, 0, Buffer::output, 0, count});
  }

  const Problem& p_;
  Groups groups_;
  Schedule schedule_;
};

}  // namespace

std::optional<Schedule> flat_to_leaders(const Problem& p) {
  if (Groups(p).count() == 1) return std::nullopt;
  switch (p.kind) {
    case CollectiveKind::barrier:
      return FlatToLeaders(p).barrier();
    case CollectiveKind::all_gather:
      return FlatToLeaders(p).all_gather();
    case CollectiveKind::all_reduce:
      return FlatToLeaders(p).all_reduce();
    default:
      return std::nullopt;
  }
}

}  // namespace tca::coll
