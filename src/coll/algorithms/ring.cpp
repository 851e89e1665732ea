// Ring: each rank sends to the next only. Reduce-scatter, allgather, and allreduce as one after the other;
// broadcast as a pipeline of segments. Blocks a b c d of ranks 0 1 2 3:
//
//   round 1   0 -d-> 1 -a-> 2 -b-> 3 -c-> 0      reduce-scatter: the receiver adds its own block
//   round 2   0 -c-> 1 -d-> 2 -a-> 3 -b-> 0
//   round 3   0 -b-> 1 -c-> 2 -d-> 3 -a-> 0      block a has been everywhere and is home
//   round 4   0 -a-> 1 -b-> 2 -c-> 3 -d-> 0      allgather, three rounds of it
#include "coll/algorithms/algorithms.hpp"

namespace tca::coll {

namespace {

// The blocks of a buffer, one for each rank.
struct Blocks {
  const Problem& p;
  bool parts;  // whether they are the parts of one block

  std::int64_t first(int i) const { return parts ? p.part_first(p.modulo(i)) : p.modulo(i) * p.count; }
  std::int64_t count(int i) const { return parts ? p.part_count(p.modulo(i)) : p.count; }
  std::int64_t largest() const { return parts ? p.part_count(0) : p.count; }
};

void put_on(const Problem& p, Round& round, Put put) {
  put.to = p.modulo(p.rank + 1);
  if (put.count > 0) round.puts.push_back(put);
}

void expect(const Problem& p, Round& round, std::int64_t count) {
  if (count > 0) round.expected.push_back(p.modulo(p.rank - 1));
}

// In round t rank r passes on what it has combined of block r-t-1 and receives block r-t-2. So block r has
// visited every rank when it reaches its owner, rank r. Arrivals alternate between two places, since one is
// sent from while the other is written.
void reduce(const Problem& p, const Blocks& blocks, Schedule& schedule, std::int64_t into) {
  schedule.scratch = 2 * blocks.largest();
  for (int t = 0; t + 1 < p.ranks; ++t) {
    Round& round = schedule.rounds.emplace_back();
    const int out = p.rank - t - 1, in = p.rank - t - 2;
    const std::int64_t here = t % 2 * blocks.largest(), before = (t + 1) % 2 * blocks.largest();
    const Slice have = t == 0 ? Slice{Buffer::input, blocks.first(out)} : Slice{Buffer::scratch, before};
    put_on(p, round, {0, Buffer::scratch, here, have.buffer, have.first, blocks.count(out)});
    expect(p, round, blocks.count(in));
    const Slice result = t + 2 == p.ranks ? Slice{Buffer::output, into} : Slice{Buffer::scratch, here};
    if (blocks.count(in) > 0)
      round.combines.push_back(
          {result, {{Buffer::scratch, here}, {Buffer::input, blocks.first(in)}}, blocks.count(in)});
  }
}

// Passes blocks of the output around the ring, beginning with each rank's own.
void gather(const Problem& p, const Blocks& blocks, Schedule& schedule, bool own_is_input) {
  for (int t = 0; t + 1 < p.ranks; ++t) {
    Round& round = schedule.rounds.emplace_back();
    const std::int64_t first = blocks.first(p.rank - t);
    const bool from_input = own_is_input && t == 0;
    put_on(p, round,
           {0, Buffer::output, first, from_input ? Buffer::input : Buffer::output, from_input ? 0 : first,
            blocks.count(p.rank - t)});
    expect(p, round, blocks.count(p.rank - t - 1));
    if (from_input && !p.in_place)
      round.copies.push_back({{Buffer::output, first}, {{Buffer::input, 0}}, p.count});
  }
}

// Broadcasts in segments. Segment s leaves the rank that is d steps from the root in round s+d.
void pipeline(const Problem& p, Schedule& schedule) {
  constexpr std::int64_t most = 16;
  const std::int64_t segments = std::min(most, p.count);
  const int steps = p.modulo(p.rank - p.root);
  const auto first = [&](std::int64_t s) { return p.count / segments * s + std::min(s, p.count % segments); };
  for (std::int64_t t = 0; t < segments + p.ranks - 2; ++t) {
    Round& round = schedule.rounds.emplace_back();
    const std::int64_t out = t - steps, in = out + 1;
    if (steps + 1 < p.ranks && out >= 0 && out < segments)
      put_on(p, round,
             {0, Buffer::output, first(out), Buffer::output, first(out), first(out + 1) - first(out)});
    if (steps > 0 && in >= 0 && in < segments) expect(p, round, first(in + 1) - first(in));
  }
}

}  // namespace

std::optional<Schedule> ring(const Problem& p) {
  Schedule schedule;
  // Blocks are combined in ring order, which does not begin with rank 0.
  const bool reduces = p.kind == CollectiveKind::all_reduce || p.kind == CollectiveKind::reduce_scatter;
  if (reduces && p.own_operation) return std::nullopt;
  const Blocks blocks{p, p.kind == CollectiveKind::all_reduce};
  switch (p.kind) {
    case CollectiveKind::broadcast:
      pipeline(p, schedule);
      return schedule;
    case CollectiveKind::all_gather:
      gather(p, blocks, schedule, true);
      return schedule;
    case CollectiveKind::reduce_scatter:
      reduce(p, blocks, schedule, p.in_place ? blocks.first(p.rank) : 0);
      return schedule;
    case CollectiveKind::all_reduce:
      reduce(p, blocks, schedule, blocks.first(p.rank));
      gather(p, blocks, schedule, false);
      return schedule;
    default:
      return std::nullopt;
  }
}

}  // namespace tca::coll
