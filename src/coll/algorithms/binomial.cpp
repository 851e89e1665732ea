// Binomial tree: the number of ranks that have the data doubles in each round. Broadcast.
//
//   round 1   0 -> 1
//   round 2   0 -> 2   1 -> 3
//   round 3   0 -> 4   1 -> 5   2 -> 6   3 -> 7
#include "coll/algorithms/algorithms.hpp"

namespace tca::coll {

std::optional<Schedule> binomial(const Problem& p) {
  if (p.kind != CollectiveKind::broadcast) return std::nullopt;
  Schedule schedule;
  const int from_root = p.modulo(p.rank - p.root);
  for (int have = 1; have < p.ranks; have *= 2) {
    Round& round = schedule.rounds.emplace_back();
    if (from_root < have && from_root + have < p.ranks) {
      round.puts.push_back({p.modulo(p.rank + have), Buffer::output, 0, Buffer::input, 0, p.count});
    } else if (from_root >= have && from_root < 2 * have) {
      round.expected.push_back(p.modulo(p.rank - have));
    }
  }
  return schedule;
}

}  // namespace tca::coll
