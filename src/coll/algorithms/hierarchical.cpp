// Hierarchical (single leader): one rank of each sub-cluster communicates with the other sub-clusters on
// behalf of all. Barrier, allgather, allreduce over {0 1 2 3} and {4 5 6 7}:
//
//   round 1   1 2 3 -> 0              5 6 7 -> 4      (allgather: everyone to everyone of the sub-cluster)
//   round 2              0 <-> 4
//   round 3   0 -> 1 2 3              4 -> 5 6 7
//
// Broadcast over {0 1}, {2 3}, {4 5}, {6 7}: a binomial tree of leaders, each of which passes the data on to
// its members as soon as it has them, at once or (hierarchical_binomial) down a binomial tree as well.
//
//   round 1   0 -> 2   0 -> 1
//   round 2   0 -> 4   2 -> 6   2 -> 3
//   round 3   4 -> 5   6 -> 7
#include <bit>

#include "coll/algorithms/algorithms.hpp"
#include "coll/groups.hpp"

namespace tca::coll {

namespace {

// The leader is the root in its own sub-cluster, elsewhere the lowest rank.
class Hierarchical {
 public:
  explicit Hierarchical(const Problem& problem)
      : p_(problem),
        groups_(p_),
        root_group_(p_.kind == CollectiveKind::broadcast ? groups_.of(p_.root) : 0) {}

  // Broadcasts down a binomial tree of leaders. Each passes the data on to its members as soon as it has
  // them itself: to all of them at once, or down a tree.
  Schedule broadcast(bool tree) {
    const int mine = order(groups_.own());
    int hands_on = mine == 0 ? 0 : 1;  // the round after that in which the data arrived
    for (int have = 1; have < groups_.count(); have *= 2) {
      Round& round = add_round();
      if (mine >= have && mine < 2 * have) {
        if (leads()) round.expected.push_back(leader(at(mine - have)));
        hands_on = rounds();
      } else if (leads() && mine < have && mine + have < groups_.count()) {
        round.puts.push_back(whole_to(leader(at(mine + have))));
      }
    }
    const int last = rounds();
    schedule_.rounds.resize(static_cast<std::size_t>(last) + static_cast<std::size_t>(levels(tree)));
    if (tree) {
      down_a_tree(hands_on);
    } else {
      to_members(schedule_.rounds[static_cast<std::size_t>(hands_on)], Buffer::input, 0, p_.count);
    }
    return std::move(schedule_);
  }

  Schedule barrier() {
    from_members(add_round(), 0);
    among_leaders(add_round(), Buffer::output, 0, Buffer::output, 0, 0);
    to_members(add_round(), Buffer::output, 0, 0);
    return std::move(schedule_);
  }

  Schedule all_gather() {
    const std::int64_t mine = p_.rank * p_.count;
    Round& here = add_round();
    for (const int other : groups_.own_members()) {
      if (other == p_.rank) continue;
      here.puts.push_back({other, Buffer::output, mine, Buffer::input, 0, p_.count});
      here.expected.push_back(other);
    }
    if (!p_.in_place) here.copies.push_back({{Buffer::output, mine}, {{Buffer::input, 0}}, p_.count});

    Round& across = add_round();
    for_each_range(groups_.own_members(), p_.count, [&](std::int64_t first, std::int64_t count) {
      among_leaders(across, Buffer::output, first, Buffer::output, first, count);
    });

    Round& down = add_round();
    for (int group = 0; group < groups_.count(); ++group) {
      if (group == groups_.own()) continue;
      for_each_range(groups_.members(group), p_.count, [&](std::int64_t first, std::int64_t count) {
        to_members(down, Buffer::output, first, count);
      });
    }
    return std::move(schedule_);
  }

  // Combines in rank order within a sub-cluster, and then in the order of sub-clusters.
  Schedule all_reduce() {
    Round& up = add_round();
    from_members(up, p_.count);
    const int size = static_cast<int>(groups_.own_members().size());
    if (leads())
      up.combines.push_back(in_order({Buffer::output, 0}, p_.count, {size, 0, p_.count}, groups_.own_place(),
                                     {Buffer::input, 0}));

    const int first_leader = groups_.largest();  // the slots of leaders follow those of members
    Round& across = add_round();
    among_leaders(across, Buffer::scratch, slot(first_leader + groups_.own()), Buffer::output, 0, p_.count);
    if (leads())
      across.combines.push_back(in_order({Buffer::output, 0}, p_.count,
                                         {groups_.count(), slot(first_leader), p_.count}, groups_.own(),
                                         {Buffer::output, 0}));

    to_members(add_round(), Buffer::output, 0, p_.count);
    schedule_.scratch = slot(first_leader + groups_.count());
    return std::move(schedule_);
  }

 private:
  Put whole_to(int rank) const { return {rank, Buffer::output, 0, Buffer::input, 0, p_.count}; }

  // Returns the number of rounds that the largest sub-cluster needs.
  int levels(bool tree) const {
    return tree ? static_cast<int>(std::bit_width(static_cast<unsigned>(groups_.largest()) - 1)) : 1;
  }

  void down_a_tree(int first_round) {
    const int size = static_cast<int>(groups_.own_members().size()),
              top = groups_.place_of(leader(groups_.own()));
    const int mine = (groups_.own_place() - top + size) % size;
    const auto member = [&](int from_top) {
      return groups_.own_members()[static_cast<std::size_t>((top + from_top) % size)];
    };
    auto round = schedule_.rounds.begin() + first_round;
    for (int have = 1; have < size; have *= 2, ++round) {
      if (mine >= have && mine < 2 * have) round->expected.push_back(member(mine - have));
      if (mine < have && mine + have < size) round->puts.push_back(whole_to(member(mine + have)));
    }
  }

  // Number the groups, starting with the root's.
  int order(int group) const { return (group - root_group_ + groups_.count()) % groups_.count(); }
  int at(int order) const { return (order + root_group_) % groups_.count(); }

  int leader(int group) const {
    return p_.kind == CollectiveKind::broadcast && group == root_group_ ? p_.root : groups_.members(group)[0];
  }
  bool leads() const { return leader(groups_.own()) == p_.rank; }
  std::int64_t slot(int place) const { return place * p_.count; }

  Round& add_round() { return schedule_.rounds.emplace_back(); }
  int rounds() const { return static_cast<int>(schedule_.rounds.size()); }

  void from_members(Round& round, std::int64_t count) const {
    if (!leads()) {
      const std::int64_t place = slot(groups_.own_place());
      round.puts.push_back({leader(groups_.own()), Buffer::scratch, place, Buffer::input, 0, count});
      return;
    }
    for (const int member : groups_.own_members()) {
      if (member != p_.rank) round.expected.push_back(member);
    }
  }

  void to_members(Round& round, Buffer from, std::int64_t first, std::int64_t count) const {
    if (!leads()) return round.expect(leader(groups_.own()));
    for (const int member : groups_.own_members()) {
      if (member != p_.rank) round.puts.push_back({member, Buffer::output, first, from, first, count});
    }
  }

  void among_leaders(Round& round, Buffer to, std::int64_t to_first, Buffer from, std::int64_t from_first,
                     std::int64_t count) const {
    for (int i = 1; leads() && i < groups_.count(); ++i) {
      const int other = leader((groups_.own() + i) % groups_.count());
      round.puts.push_back({other, to, to_first, from, from_first, count});
      round.expect(other);
    }
  }

  const Problem& p_;
  Groups groups_;
  int root_group_;
  Schedule schedule_;
};

}  // namespace

std::optional<Schedule> hierarchical(const Problem& p) {
  const Groups groups(p);
  if (groups.count() == 1) return std::nullopt;
  switch (p.kind) {
    case CollectiveKind::barrier:
      return Hierarchical(p).barrier();
    case CollectiveKind::broadcast:
      return Hierarchical(p).broadcast(false);
    case CollectiveKind::all_gather:
      return Hierarchical(p).all_gather();
    case CollectiveKind::all_reduce:
      if (p.own_operation && !groups.consecutive()) return std::nullopt;
      return Hierarchical(p).all_reduce();
    default:
      return std::nullopt;
  }
}

std::optional<Schedule> hierarchical_binomial(const Problem& p) {
  if (p.kind != CollectiveKind::broadcast || Groups(p).count() == 1) return std::nullopt;
  return Hierarchical(p).broadcast(true);
}

}  // namespace tca::coll
