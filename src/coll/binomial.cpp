#include "coll/algorithms.hpp"

namespace tca::coll {

std::optional<Schedule> binomial(const Problem& p) {
  if (p.kind != Kind::broadcast) return std::nullopt;
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
