// Pairwise exchange: in each round a rank sends to one other and receives from one. All-to-all.
//
//   round 1   0 -> 1   1 -> 2   2 -> 3   3 -> 0
//   round 2   0 -> 2   1 -> 3   2 -> 0   3 -> 1
//   round 3   0 -> 3   1 -> 0   2 -> 1   3 -> 2
#include "coll/algorithms/algorithms.hpp"

namespace tca::coll {

std::optional<Schedule> pairwise(const Problem& p) {
  if (p.kind != CollectiveKind::all_to_all) return std::nullopt;
  Schedule schedule;
  const std::int64_t mine = p.rank * p.count;
  for (int i = 1; i < p.ranks; ++i) {
    Round& round = schedule.rounds.emplace_back();
    const int to = p.modulo(p.rank + i);
    round.puts.push_back(
        {to, p.in_place ? Buffer::scratch : Buffer::output, mine, Buffer::input, to * p.count, p.count});
    round.expected.push_back(p.modulo(p.rank - i));
  }
  if (!p.in_place) {
    schedule.rounds[0].copies.push_back({{Buffer::output, mine}, {{Buffer::input, mine}}, p.count});
    return schedule;
  }
  // In place, a block may be overwritten only after the last round, when every block has left.
  for (int i = 1; i < p.ranks; ++i) {
    const std::int64_t place = p.modulo(p.rank + i) * p.count;
    schedule.rounds.back().combines.push_back({{Buffer::output, place}, {{Buffer::scratch, place}}, p.count});
  }
  schedule.scratch = p.ranks * p.count;
  return schedule;
}

}  // namespace tca::coll
