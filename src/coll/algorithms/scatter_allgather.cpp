// Scatter and allgather, a round each, where every rank reaches every other. Broadcast of many bytes, here
// from rank 0:
//
//   rank                            0      1      2      3
//   values, in parts                abcd
//   round 1: part r to rank r,      abcd   ab..   a.c.   a..d
//            the root's own to all
//   round 2: its part to the rest   abcd   abcd   abcd   abcd
#include "coll/algorithms/algorithms.hpp"

namespace tca::coll {

// The root keeps no part for itself to pass on: its own part goes out to all in the first round.
std::optional<Schedule> scatter_allgather(const Problem& p) {
  if (p.kind != CollectiveKind::broadcast) return std::nullopt;
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

}  // namespace tca::coll
