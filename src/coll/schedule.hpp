// What one rank does in a collective, as an algorithm lays it down: rounds of puts with local work between them.
#pragma once

#include <algorithm>
#include <cstdint>
#include <optional>
#include <span>
#include <vector>

#include "tca/detail/collective.hpp"

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

// Where contributors put theirs: slots of the scratch, one each.
struct Slots {
  int count;
  std::int64_t first, apart;  // elements

  Slice at(int contributor) const { return {Buffer::scratch, first + contributor * apart}; }
};

// Adds up what the contributors have put, in their order, so that every rank gets the same bits; the contribution `own` is `mine`.
inline Combine in_order(Slice into, std::int64_t count, const Slots& slots, int own, Slice mine) {
  Combine combine{into, {}, count};
  for (int i = 0; i < slots.count; ++i) combine.operands.push_back(i == own ? mine : slots.at(i));
  return combine;
}

// A round is one chain: first the puts, then the copies, which need nothing that arrives, then the wait, then the
// combinations. Nothing may be put into what the target itself sends in the same round.
struct Round {
  std::vector<Put> puts;
  std::vector<int> expected;
  std::vector<Combine> copies;
  std::vector<Combine> combines;

  // A rank is expected once, however much it puts.
  void expect(int rank) {
    if (std::find(expected.begin(), expected.end(), rank) == expected.end()) expected.push_back(rank);
  }
  bool idle() const { return puts.empty() && expected.empty() && copies.empty() && combines.empty(); }
};

// Every rank has as many rounds.
struct Schedule {
  std::vector<Round> rounds;
  std::int64_t scratch = 0;  // elements
};

struct Problem {
  Kind kind;
  int rank, ranks, root;
  std::int64_t count;  // elements of a block; of the whole for broadcast and allreduce
  bool in_place;
  bool own_operation;                     // may not commute
  std::span<const int> sub_cluster = {};  // of each rank; empty: there is one

  // Of what is cut into a part for each rank.
  std::int64_t part_first(int rank_of) const {
    return count / ranks * rank_of + std::min<std::int64_t>(rank_of, count % ranks);
  }
  std::int64_t part_count(int rank_of) const { return count / ranks + (rank_of < count % ranks); }
  int modulo(int rank_of) const { return (rank_of % ranks + ranks) % ranks; }
};

// An algorithm gives nothing for a problem that it does not solve. All but one_shot are asked for two ranks or more only.
using Algorithm = std::optional<Schedule> (*)(const Problem&);

}  // namespace tca::coll
