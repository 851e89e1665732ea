// One rank's schedule in a collective, as an algorithm lays it out: rounds of puts, with local work between
// them.
#pragma once

#include <algorithm>
#include <cstdint>
#include <optional>
#include <span>
#include <vector>

#include "coll/elements.hpp"

namespace tca::coll {

struct Slice {
  Buffer buffer;
  std::int64_t first;
};

// into = operands[0] op operands[1] op ..., from the left, element by element. With one operand: a copy.
struct Combine {
  Slice into;
  std::vector<Slice> operands;
  std::int64_t count;
};

// The slots in the scratch into which contributors put their values, one each.
struct Slots {
  int count;
  std::int64_t first, apart;  // elements

  Slice at(int contributor) const { return {Buffer::scratch, first + contributor * apart}; }
};

// Combines what the contributors have put, in their order, so that every rank gets the same bits.
// Contribution `own` is in `mine`.
inline Combine in_order(Slice into, std::int64_t count, const Slots& slots, int own, Slice mine) {
  Combine combine{into, {}, count};
  for (int i = 0; i < slots.count; ++i) combine.operands.push_back(i == own ? mine : slots.at(i));
  return combine;
}

// A round is one chain. Its order is: puts; then copies, which need nothing that arrives; then the wait;
// then the combinations. Nothing may be put into bytes that the target itself sends in the same round.
struct Round {
  std::vector<Put> puts;
  std::vector<int> expected;
  std::vector<Combine> copies;
  std::vector<Combine> combines;

  // Expects a rank once, however many puts it makes.
  void expect(int rank) {
    if (std::find(expected.begin(), expected.end(), rank) == expected.end()) expected.push_back(rank);
  }
  bool idle() const { return puts.empty() && expected.empty() && copies.empty() && combines.empty(); }
};

// A schedule has the same number of rounds on every rank.
struct Schedule {
  std::vector<Round> rounds;
  std::int64_t scratch = 0;  // elements
};

struct Problem {
  CollectiveKind kind;
  int rank, ranks, root;
  std::int64_t count;  // elements of a block; for broadcast and allreduce, of the whole
  bool in_place;
  bool own_operation;                     // the program's own, which may not commute
  std::span<const int> sub_cluster = {};  // of each rank; empty if there is only one

  // Return a rank's part when `count` elements are divided among all ranks.
  std::int64_t part_first(int rank_of) const {
    return count / ranks * rank_of + std::min<std::int64_t>(rank_of, count % ranks);
  }
  std::int64_t part_count(int rank_of) const { return count / ranks + (rank_of < count % ranks); }
  int modulo(int rank_of) const { return (rank_of % ranks + ranks) % ranks; }
};

// Puts a rank's part of the output to the same place on another rank, unless it is empty.
inline void put_part(const Problem& problem, Round& round, int part, int to) {
  const std::int64_t first = problem.part_first(part), count = problem.part_count(part);
  if (count > 0) round.puts.push_back({to, Buffer::output, first, Buffer::output, first, count});
}

// An algorithm returns nothing for a problem that it does not solve. Only `flat` is called for a single
// rank.
using Algorithm = std::optional<Schedule> (*)(const Problem&);

}  // namespace tca::coll
