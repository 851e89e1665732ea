#include "trigger/books/summary.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <span>

namespace tca::trigger {
namespace {

// Those of all ranks, of which each has a number of its own.
std::vector<std::uint64_t> of_all(World& world, std::vector<std::uint64_t> mine) {
  const std::uint64_t own = mine.size();
  const std::vector<std::uint64_t> sizes = world.all_gather(own);
  const std::uint64_t most = std::ranges::max(sizes);
  if (most == 0) return {};
  mine.resize(most);
  std::vector<std::uint64_t> padded(most * sizes.size()), all;
  world.all_gather(std::as_bytes(std::span(mine)), std::as_writable_bytes(std::span(padded)));
  for (std::size_t rank = 0; rank < sizes.size(); ++rank)
    all.insert(all.end(), padded.begin() + static_cast<std::ptrdiff_t>(rank * most),
               padded.begin() + static_cast<std::ptrdiff_t>(rank * most + sizes[rank]));
  std::ranges::sort(all);
  return all;
}

Histogram of_all(World& world, const Histogram& mine) {
  const std::span<const std::uint64_t> own = mine.counts();
  std::vector<std::uint64_t> all(own.size() * static_cast<std::size_t>(world.size()));
  world.all_gather(std::as_bytes(own), std::as_writable_bytes(std::span(all)));
  Histogram sum;
  for (std::size_t first = 0; first < all.size(); first += own.size())
    sum.add(std::span(all).subspan(first, own.size()));
  return sum;
}

// What is added up, or of which the worst counts.
struct Counts {
  std::uint64_t answered, again, wrong, came, duplicates, reordered, foreign, bytes, buffer_bytes;
  double seconds;
  Verdict verdict;
};

void add(const Counts& counts, Summary& sum) {
  sum.answered += counts.answered;
  sum.again += counts.again;
  sum.wrong += counts.wrong;
  sum.came += counts.came;
  sum.duplicates += counts.duplicates;
  sum.reordered += counts.reordered;
  sum.foreign += counts.foreign;
  sum.bytes += counts.bytes;
  sum.seconds = std::max(sum.seconds, counts.seconds);
  sum.buffer_bytes =
      sum.buffer_bytes == 0 ? counts.buffer_bytes : std::min(sum.buffer_bytes, counts.buffer_bytes);
  sum.verdict.add(counts.verdict);
}

}  // namespace

Summary summed(World& world, const Outcome& outcome, std::size_t buffer_bytes) {
  const Counts mine{.answered = outcome.book.answered(),
                    .again = outcome.book.again(),
                    .wrong = outcome.book.wrong(),
                    .came = outcome.seen.came(),
                    .duplicates = outcome.duplicates,
                    .reordered = outcome.seen.reordered(),
                    .foreign = outcome.foreign,
                    .bytes = outcome.bytes,
                    .buffer_bytes = buffer_bytes,
                    .seconds = outcome.seconds,
                    .verdict = judge(outcome.book)};
  Summary sum;
  for (const Counts& counts : world.all_gather(mine)) add(counts, sum);
  sum.dropped = of_all(world, outcome.seen.dropped());
  sum.lost = of_all(world, outcome.seen.lost());
  sum.overrun = of_all(world, outcome.seen.overrun());
  sum.late = of_all(world, outcome.seen.late());
  sum.unanswered = of_all(world, outcome.seen.unanswered());
  sum.latency = of_all(world, outcome.latency);
  return sum;
}

std::string in_words(const std::vector<std::uint64_t>& numbers, std::size_t most) {
  std::string text;
  std::size_t ranges = 0, at = 0;
  while (at < numbers.size() && ranges < most) {
    std::size_t end = at + 1;
    while (end < numbers.size() && numbers[end] == numbers[end - 1] + 1) ++end;
    text += ranges++ == 0 ? "" : ", ";
    text +=
        end - at == 1 ? fmt::format("{}", numbers[at]) : fmt::format("{}-{}", numbers[at], numbers[end - 1]);
    at = end;
  }
  if (at < numbers.size()) text += fmt::format(" and {} more", numbers.size() - at);
  return text;
}

}  // namespace tca::trigger
