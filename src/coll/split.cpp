#include "coll/algorithms.hpp"

namespace tca::coll {

namespace {

void put_part(const Problem& p, Round& round, int part, int to) {
  if (p.part_count(part) > 0)
    round.puts.push_back(
        {to, Buffer::output, p.part_first(part), Buffer::output, p.part_first(part), p.part_count(part)});
}

// The root keeps no part for itself to pass on: its own part goes out to all in the first round.
Schedule broadcast(const Problem& p) {
  Schedule schedule;
  schedule.rounds.resize(2);
  Round &scatter = schedule.rounds[0], &gather = schedule.rounds[1];
  for (int i = 1; i < p.ranks; ++i) {
    const int other = p.modulo(p.rank + i);
    if (p.rank == p.root) {
      put_part(p, scatter, other, other);
      put_part(p, scatter, p.root, other);
    } else if (other != p.root) {
      put_part(p, gather, p.rank, other);
      if (p.part_count(other) > 0) gather.expected.push_back(other);
    }
  }
  if (p.rank != p.root && p.part_count(p.rank) + p.part_count(p.root) > 0) scatter.expected.push_back(p.root);
  return schedule;
}

Schedule all_reduce(const Problem& p) {
  Schedule schedule;
  schedule.rounds.resize(2);
  Round &reduce = schedule.rounds[0], &gather = schedule.rounds[1];
  const std::int64_t slot = p.part_count(0), mine = p.part_count(p.rank), first = p.part_first(p.rank);
  schedule.scratch = p.ranks * slot;
  for (int i = 1; i < p.ranks; ++i) {
    const int other = p.modulo(p.rank + i);
    if (p.part_count(other) > 0) {
      reduce.puts.push_back(
          {other, Buffer::scratch, p.rank * slot, Buffer::input, p.part_first(other), p.part_count(other)});
      gather.expected.push_back(other);
    }
    if (mine > 0) reduce.expected.push_back(other);
    put_part(p, gather, p.rank, other);
  }
  if (mine > 0)
    reduce.combines.push_back(
        in_order({Buffer::output, first}, mine, {p.ranks, 0, slot}, p.rank, {Buffer::input, first}));
  return schedule;
}

}  // namespace

std::optional<Schedule> split(const Problem& p) {
  if (p.kind == Kind::broadcast) return broadcast(p);
  if (p.kind == Kind::all_reduce) return all_reduce(p);
  return std::nullopt;
}

}  // namespace tca::coll
