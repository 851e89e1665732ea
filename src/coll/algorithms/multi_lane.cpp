// Multi-lane (Traeff and Hunold 2020): every rank communicates with the ranks at its own position in the
// other sub-clusters, which must all be of the same size. As many messages cross at once as a sub-cluster has
// ranks, each with its part of the bytes. Over {0 1 2 3} and {4 5 6 7}:
//
//   allreduce   round 1   reduce-scatter within {0 1 2 3} and within {4 5 6 7}: rank r has quarter r mod 4
//               round 2   0 <-> 4   1 <-> 5   2 <-> 6   3 <-> 7     quarters
//               round 3   allgather within each
//   allgather   round 1   0 -> 1 2 3 4   1 -> 2 3 0 5   ...         its own block
//               round 2   0 -> 1 2 3     1 -> 2 3 0     ...         the block of 4, of 5, ...
//   reduce-scatter, all-to-all
//               round 1   within each, sorted by position; round 2 as 0 <-> 4, ...
#include "coll/algorithms/algorithms.hpp"
#include "coll/groups.hpp"

namespace tca::coll {

namespace {

class MultiLane {
 public:
  explicit MultiLane(const Problem& problem)
      : p_(problem), groups_(p_), size_(static_cast<int>(groups_.own_members().size())) {}

  Schedule all_gather() {
    const std::int64_t mine = p_.rank * p_.count;
    Round& first = add_round();
    across(first, Buffer::output, mine, Buffer::input, 0, p_.count);
    here(first, Buffer::output, mine, Buffer::input, 0, p_.count);
    if (!p_.in_place) first.copies.push_back({{Buffer::output, mine}, {{Buffer::input, 0}}, p_.count});

    Round& second = add_round();
    for (int group = 0; group < groups_.count(); ++group) {
      if (group == groups_.own()) continue;
      const std::int64_t theirs = counterpart(group) * p_.count;
      here(second, Buffer::output, theirs, Buffer::output, theirs, p_.count);
    }
    return std::move(schedule_);
  }

  // First each rank receives, from the members of its sub-cluster, the blocks for its own place in every
  // sub-cluster, and combines them for each. Then it sends the results to the ranks that own these blocks.
  Schedule reduce_scatter() {
    const int place = groups_.own_place(), groups = groups_.count();
    const auto from_here = [&](int group) { return Slots{size_, slot(group * size_), p_.count}; };
    const Slots sums{groups, slot(groups * size_), p_.count};
    const Slots from_there{groups, slot(groups * (size_ + 1)), p_.count};

    Round& here = add_round();
    for (int i = 1; i < size_; ++i) {
      const int other = (place + i) % size_;
      for (int group = 0; group < groups; ++group)
        exchange(here, {member(other), Buffer::scratch, from_here(group).at(place).first, Buffer::input,
                        slot(member(group, other)), p_.count});
    }
    for (int group = 0; group < groups; ++group)
      here.combines.push_back(in_order(sums.at(group), p_.count, from_here(group), place,
                                       {Buffer::input, slot(counterpart(group))}));

    Round& across = add_round();
    for (int i = 1; i < groups; ++i) {
      const int group = (groups_.own() + i) % groups;
      exchange(across, {counterpart(group), Buffer::scratch, from_there.at(groups_.own()).first,
                        Buffer::scratch, sums.at(group).first, p_.count});
    }
    across.combines.push_back(in_order({Buffer::output, p_.in_place ? slot(p_.rank) : 0}, p_.count,
                                       from_there, groups_.own(), sums.at(groups_.own())));
    schedule_.scratch = slot(groups * (size_ + 2));
    return std::move(schedule_);
  }

  // Each rank receives, from the members of its sub-cluster, their blocks for its own place in every other,
  // and sends them across together.
  Schedule all_to_all() {
    const int place = groups_.own_place();
    const Buffer arrives = p_.in_place ? Buffer::scratch : Buffer::output;
    const auto crossing = [&](int group, int of) { return slot(p_.ranks + group * size_ + of); };

    Round& here = add_round();
    for (int i = 1; i < size_; ++i) {
      const int other = (place + i) % size_;
      for (int group = 0; group < groups_.count(); ++group) {
        const bool stays = group == groups_.own();
        exchange(here, {member(other), stays ? arrives : Buffer::scratch,
                        stays ? slot(p_.rank) : crossing(group, place), Buffer::input,
                        slot(member(group, other)), p_.count});
      }
    }
    for (int group = 0; group < groups_.count(); ++group) {
      if (group != groups_.own())
        here.copies.push_back({{Buffer::scratch, crossing(group, place)},
                               {{Buffer::input, slot(counterpart(group))}},
                               p_.count});
    }
    if (!p_.in_place)
      here.copies.push_back({{Buffer::output, slot(p_.rank)}, {{Buffer::input, slot(p_.rank)}}, p_.count});

    Round& across = add_round();
    for (int i = 1; i < groups_.count(); ++i) {
      const int group = (groups_.own() + i) % groups_.count();
      std::int64_t from = crossing(group, 0);
      for_each_range(groups_.own_members(), p_.count, [&](std::int64_t first, std::int64_t count) {
        exchange(across, {counterpart(group), arrives, first, Buffer::scratch, from, count});
        from += count;
      });
    }
    for (int rank = 0; p_.in_place && rank < p_.ranks; ++rank) {
      if (rank != p_.rank)
        across.combines.push_back({{Buffer::output, slot(rank)}, {{Buffer::scratch, slot(rank)}}, p_.count});
    }
    schedule_.scratch = slot(p_.ranks + groups_.count() * size_);
    return std::move(schedule_);
  }

  // Each place has a part of the values. It is combined within the sub-cluster, then across sub-clusters, and
  // then put to all members.
  Schedule all_reduce() {
    const int place = groups_.own_place();
    const Part mine = part(place);
    const std::int64_t slot = part(0).count;

    Round& reduce = add_round();
    for (int i = 1; i < size_; ++i) {
      const int other = (place + i) % size_;
      reduce.puts.push_back({member(other), Buffer::scratch, place * slot, Buffer::input, part(other).first,
                             part(other).count});
      reduce.expected.push_back(member(other));
    }
    reduce.combines.push_back(in_order({Buffer::output, mine.first}, mine.count, {size_, 0, slot}, place,
                                       {Buffer::input, mine.first}));

    Round& exchange = add_round();
    across(exchange, Buffer::scratch, (size_ + groups_.own()) * slot, Buffer::output, mine.first, mine.count);
    exchange.combines.push_back(in_order({Buffer::output, mine.first}, mine.count,
                                         {groups_.count(), size_ * slot, slot}, groups_.own(),
                                         {Buffer::output, mine.first}));

    here(add_round(), Buffer::output, mine.first, Buffer::output, mine.first, mine.count);
    schedule_.scratch = (size_ + groups_.count()) * slot;
    return std::move(schedule_);
  }

 private:
  struct Part {
    std::int64_t first, count;
  };
  Part part(int place) const {
    return {p_.count / size_ * place + std::min<std::int64_t>(place, p_.count % size_),
            p_.count / size_ + (place < p_.count % size_)};
  }
  std::int64_t slot(int block) const { return block * p_.count; }
  int member(int group, int place) const { return groups_.members(group)[static_cast<std::size_t>(place)]; }
  int member(int place) const { return member(groups_.own(), place); }
  int counterpart(int group) const { return member(group, groups_.own_place()); }
  void across(Round& round, Buffer to, std::int64_t to_first, Buffer from, std::int64_t from_first,
              std::int64_t count) const {
    for (int i = 1; i < groups_.count(); ++i)
      exchange(round,
               {counterpart((groups_.own() + i) % groups_.count()), to, to_first, from, from_first, count});
  }
  void here(Round& round, Buffer to, std::int64_t to_first, Buffer from, std::int64_t from_first,
            std::int64_t count) const {
    for (int i = 1; i < size_; ++i)
      exchange(round, {member((groups_.own_place() + i) % size_), to, to_first, from, from_first, count});
  }
  // The exchange is mutual: this rank expects a put from the rank to which it puts.
  static void exchange(Round& round, const Put& put) {
    round.puts.push_back(put);
    round.expect(put.to);
  }
  Round& add_round() { return schedule_.rounds.emplace_back(); }

  const Problem& p_;
  Groups groups_;
  int size_;
  Schedule schedule_;
};

}  // namespace

std::optional<Schedule> multi_lane(const Problem& p) {
  const Groups groups(p);
  if (groups.count() == 1 || !groups.equal_sizes()) return std::nullopt;
  const bool keeps_order = !p.own_operation || groups.consecutive();
  switch (p.kind) {
    case CollectiveKind::all_gather:
      return MultiLane(p).all_gather();
    case CollectiveKind::all_to_all:
      return MultiLane(p).all_to_all();
    case CollectiveKind::all_reduce:
      return keeps_order ? std::optional(MultiLane(p).all_reduce()) : std::nullopt;
    case CollectiveKind::reduce_scatter:
      return keeps_order ? std::optional(MultiLane(p).reduce_scatter()) : std::nullopt;
    default:
      return std::nullopt;
  }
}

}  // namespace tca::coll
