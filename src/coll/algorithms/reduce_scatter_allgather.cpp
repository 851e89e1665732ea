// Reduce-scatter and allgather, a round each, where every rank reaches every other. Allreduce of many bytes:
//
//   rank                            0      1      2      3
//   values, in parts                abcd   abcd   abcd   abcd
//   round 1: part r to rank r,      A      .B     ..C    ...D
//            which combines it in the order of ranks
//   round 2: its sum to everyone    ABCD   ABCD   ABCD   ABCD
#include "coll/algorithms/algorithms.hpp"

namespace tca::coll {

std::optional<Schedule> reduce_scatter_allgather(const Problem& p) {
  if (p.kind != CollectiveKind::all_reduce) return std::nullopt;
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

}  // namespace tca::coll
