#include "coll/algorithms.hpp"
#include "coll/groups.hpp"

namespace tca::coll {

namespace {

// Sub-clusters of one size, in which every rank speaks with those at its own place in the others: as many messages cross at
// once as a sub-cluster has ranks, each with that part of the bytes.
class Counterparts {
 public:
  explicit Counterparts(const Problem& problem)
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

  // A part for each place: added up within the sub-cluster, then over the sub-clusters, then handed to everyone here.
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
    Combine sum{{Buffer::output, mine.first}, {}, mine.count};
    for (int other = 0; other < size_; ++other)
      sum.operands.push_back(other == place ? Slice{Buffer::input, mine.first}
                                            : Slice{Buffer::scratch, other * slot});
    reduce.combines.push_back(std::move(sum));

    Round& exchange = add_round();
    across(exchange, Buffer::scratch, (size_ + groups_.own()) * slot, Buffer::output, mine.first, mine.count);
    Combine all{{Buffer::output, mine.first}, {}, mine.count};
    for (int group = 0; group < groups_.count(); ++group)
      all.operands.push_back(group == groups_.own() ? Slice{Buffer::output, mine.first}
                                                    : Slice{Buffer::scratch, (size_ + group) * slot});
    exchange.combines.push_back(std::move(all));

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
  int member(int place) const { return groups_.own_members()[static_cast<std::size_t>(place)]; }
  int counterpart(int group) const {
    return groups_.members(group)[static_cast<std::size_t>(groups_.own_place())];
  }
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
  // All of them put to each other: what this rank sends to one, it has from it.
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

std::optional<Schedule> counterparts(const Problem& p) {
  const Groups groups(p);
  if (groups.count() == 1 || !groups.equal_sizes()) return std::nullopt;
  if (p.kind == Kind::all_gather) return Counterparts(p).all_gather();
  if (p.kind == Kind::all_reduce && (!p.own_operation || groups.consecutive()))
    return Counterparts(p).all_reduce();
  return std::nullopt;
}

}  // namespace tca::coll
