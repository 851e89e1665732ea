// Flat: every rank puts to every other at once, in one round. It serves every collective; best for few bytes.
//
//   0 -> 1 2 3      A broadcast is the root's row alone. In a reduction each rank then combines the values
//   1 -> 2 3 0      of ranks 0 1 2 3 in that order.
//   2 -> 3 0 1
//   3 -> 0 1 2
#include "coll/algorithms/algorithms.hpp"

namespace tca::coll {

namespace {

void broadcast(const Problem& p, Round& round) {
  if (p.rank != p.root) {
    round.expected.push_back(p.root);
    return;
  }
  for (int i = 1; i < p.ranks; ++i)
    round.puts.push_back({p.modulo(p.root + i), Buffer::output, 0, Buffer::input, 0, p.count});
}

// Puts to all others, beginning with the next rank, so that no target is the first of all ranks. `block`
// returns where a target's part of the input begins, and `place` is where it is stored there.
template <class BlockOf>
void to_everyone(const Problem& p, Round& round, Buffer to, std::int64_t place, BlockOf block) {
  for (int i = 1; i < p.ranks; ++i) {
    const int other = p.modulo(p.rank + i);
    round.puts.push_back({other, to, place, Buffer::input, block(other), p.count});
    round.expected.push_back(other);
  }
}

// Combines all contributions. `own` is this rank's place in the input.
Combine in_rank_order(const Problem& p, std::int64_t own) {
  const std::int64_t into = p.kind == CollectiveKind::reduce_scatter && p.in_place ? own : 0;
  return in_order({Buffer::output, into}, p.count, {p.ranks, 0, p.count}, p.rank, {Buffer::input, own});
}

void all_to_all(const Problem& p, Round& round) {
  const std::int64_t mine = p.rank * p.count;
  to_everyone(p, round, p.in_place ? Buffer::scratch : Buffer::output, mine,
              [&](int other) { return other * p.count; });
  if (!p.in_place) round.copies.push_back({{Buffer::output, mine}, {{Buffer::input, mine}}, p.count});
  for (int rank = 0; rank < p.ranks && p.in_place; ++rank) {
    const std::int64_t place = rank * p.count;
    if (rank != p.rank)
      round.combines.push_back({{Buffer::output, place}, {{Buffer::scratch, place}}, p.count});
  }
}

}  // namespace

std::optional<Schedule> flat(const Problem& p) {
  Schedule schedule;
  Round& round = schedule.rounds.emplace_back();
  const std::int64_t mine = p.rank * p.count;
  const auto same = [](int) { return std::int64_t{0}; };
  switch (p.kind) {
    case CollectiveKind::barrier:
      to_everyone(p, round, Buffer::output, 0, same);
      break;
    case CollectiveKind::broadcast:
      broadcast(p, round);
      break;
    case CollectiveKind::all_gather:
      to_everyone(p, round, Buffer::output, mine, same);
      if (!p.in_place) round.copies.push_back({{Buffer::output, mine}, {{Buffer::input, 0}}, p.count});
      break;
    case CollectiveKind::all_reduce:
      to_everyone(p, round, Buffer::scratch, mine, same);
      round.combines.push_back(in_rank_order(p, 0));
      break;
    case CollectiveKind::reduce_scatter:
      to_everyone(p, round, Buffer::scratch, mine, [&](int other) { return other * p.count; });
      round.combines.push_back(in_rank_order(p, mine));
      break;
    case CollectiveKind::all_to_all:
      all_to_all(p, round);
      break;
  }
  const bool reduces = p.kind == CollectiveKind::all_reduce || p.kind == CollectiveKind::reduce_scatter;
  if (reduces || (p.kind == CollectiveKind::all_to_all && p.in_place)) schedule.scratch = p.ranks * p.count;
  return schedule;
}

}  // namespace tca::coll
