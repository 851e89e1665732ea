// Dissemination: log2 p rounds for any number of ranks. In round k a rank passes what it has to the one 2^k
// before it (Hensgen, Finkel, Manber 1988; as an allgather Bruck et al. 1997, without the rotation). Barrier,
// allgather.
//
//   rank              0      1      2      3      4
//   has               0      1      2      3      4
//   round 1, to r-1   01     12     23     34     40
//   round 2, to r-2   0123   1234   2340   3401   4012
//   round 3, to r-4   01234  12340  23401  34012  40123
#include "coll/algorithms/algorithms.hpp"

namespace tca::coll {

namespace {

// Puts `blocks` blocks, modulo p, beginning with this rank's own. That takes one put, or two if they wrap
// past the last block.
void add_blocks(const Problem& p, Round& round, int to, int blocks) {
  const int before_end = std::min(blocks, p.ranks - p.rank);
  const std::int64_t first = p.rank * p.count;
  round.puts.push_back({to, Buffer::output, first, Buffer::output, first, before_end * p.count});
  if (blocks > before_end)
    round.puts.push_back({to, Buffer::output, 0, Buffer::output, 0, (blocks - before_end) * p.count});
}

}  // namespace

std::optional<Schedule> dissemination(const Problem& p) {
  if (p.kind != CollectiveKind::barrier && p.kind != CollectiveKind::all_gather) return std::nullopt;
  Schedule schedule;
  for (int distance = 1; distance < p.ranks; distance *= 2) {
    Round& round = schedule.rounds.emplace_back();
    const int to = p.modulo(p.rank - distance);
    round.expected.push_back(p.modulo(p.rank + distance));
    if (p.kind == CollectiveKind::barrier) {
      round.puts.push_back({.to = to});
    } else if (distance == 1) {
      const std::int64_t mine = p.rank * p.count;
      round.puts.push_back({to, Buffer::output, mine, Buffer::input, 0, p.count});
      if (!p.in_place) round.copies.push_back({{Buffer::output, mine}, {{Buffer::input, 0}}, p.count});
    } else {
      add_blocks(p, round, to, std::min(distance, p.ranks - distance));
    }
  }
  return schedule;
}

}  // namespace tca::coll
