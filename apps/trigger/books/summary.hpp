// What came of all links together.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "tca/world.hpp"
#include "trigger/books/judge.hpp"
#include "trigger/books/latency.hpp"
#include "trigger/trigger.hpp"

namespace tca::trigger {

struct Summary {
  // Events; and datagrams that came, those of them that were there twice, behind later ones, or of others.
  std::uint64_t answered = 0, again = 0, wrong = 0;
  std::uint64_t came = 0, duplicates = 0, reordered = 0, foreign = 0, bytes = 0;
  double seconds = 0;            // of the slowest link
  std::size_t buffer_bytes = 0;  // the least that a socket has
  // Sequence numbers of datagrams, ascending; see Seen.
  std::vector<std::uint64_t> dropped, lost, overrun, late, unanswered;
  Histogram latency;
  Verdict verdict;
};

// Collective. The same on every rank.
Summary summed(World& world, const Outcome& outcome, std::size_t buffer_bytes);

// Numbers as people write them, "3, 7-9, 12", as far as `most` of these; the rest as "and 4 more".
std::string in_words(const std::vector<std::uint64_t>& numbers, std::size_t most = 12);

}  // namespace tca::trigger
