#include "bfs/gpu/layout.hpp"

#include <algorithm>
#include <bit>

namespace tca::bfs {

namespace {

constexpr Word shortest_part = in_gpu_word, longest_part = 256;

std::vector<Word> narrow(const std::vector<std::int64_t>& begin) {
  std::vector<Word> narrowed(begin.size());
  std::ranges::transform(begin, narrowed.begin(), [](std::int64_t at) { return static_cast<Word>(at); });
  return narrowed;
}

std::vector<Head> heads_of(const Lists& lists) {
  std::vector<Head> heads;
  heads.reserve(lists.begin.size() - 1);
  for (std::size_t list = 0; list + 1 < lists.begin.size(); ++list) {
    const std::span<const Vertex> of = lists.of(list);
    heads.push_back({of.empty() ? nowhere : of.front(), static_cast<Word>(of.size())});
  }
  return heads;
}

// A warp's lanes go through a part one after the other, so parts are small; but not so small that the warps of
// a GPU have more than one to look at for each of their lanes.
Word longest_list_of(Word neighbours) {
  constexpr Word parts = 1 << 17;
  return std::clamp(std::bit_ceil(neighbours / parts), shortest_part, longest_part);
}

std::vector<ListPart> parts_of_long_lists(const std::vector<Word>& begin, Word longest_list) {
  std::vector<ListPart> parts;
  for (std::size_t list = 0; list + 1 < begin.size(); ++list) {
    if (begin[list + 1] - begin[list] <= longest_list) continue;
    for (Word first = begin[list]; first < begin[list + 1]; first += longest_list)
      parts.push_back({static_cast<Vertex>(list), first, std::min(longest_list, begin[list + 1] - first)});
  }
  return parts;
}

std::vector<Word> inverted(std::span<const std::uint64_t> bits) {
  std::vector<Word> words;
  words.reserve(2 * bits.size());
  for (const std::uint64_t word : bits) {
    words.push_back(static_cast<Word>(~word));
    words.push_back(static_cast<Word>(~word >> 32));
  }
  return words;
}

}  // namespace

GpuLayout lay_out(const Graph& graph) {
  GpuLayout layout{.begin = narrow(graph.neighbours.begin),
                   .own_begin = narrow(graph.own_neighbours.begin),
                   .heads = heads_of(graph.neighbours),
                   .longest_list = 0,
                   .parts = {},
                   .without = inverted(graph.own_connected())};
  layout.longest_list = longest_list_of(layout.own_begin.back());
  layout.parts = parts_of_long_lists(layout.own_begin, layout.longest_list);
  return layout;
}

GridSize grid_size(Word own_words, unsigned most_blocks) {
  constexpr unsigned few_warps = 8, most_warps = 32;
  const unsigned blocks = (own_words + few_warps - 1) / few_warps;
  if (blocks <= most_blocks) return {blocks, few_warps * in_gpu_word};
  return {most_blocks, most_warps * in_gpu_word};
}

double bytes_on_gpu(const Problem& problem, int ranks, Style style) {
  const auto vertices = static_cast<double>(problem.vertices()), edges = static_cast<double>(problem.edges());
  // Labels are random, so parts are alike; but not quite.
  constexpr double uneven = 1.05;
  // Both kinds of neighbours with parts of the longest lists, of which every other is full at least.
  const double of_edges = 2 * (2 * sizeof(Vertex) + 2.0 * sizeof(ListPart) / longest_part);
  // Where own lists begin, and their heads; parents and what has been reached, of two searches.
  const double of_own = sizeof(Word) + sizeof(Head) + 2 * (sizeof(Vertex) + 1.0 / 8);
  // Where all others begin; three frontiers; and to validate, parents and bitmaps of all ranks.
  const double of_all = sizeof(Word) + 3.0 / 8 + sizeof(Vertex) + ranks / 8.0;
  double bytes = uneven * edges * of_edges / ranks + vertices * (of_own / ranks + of_all);
  // Two frontiers of integers, and the own part of the tree.
  if (style == Style::paper)
    bytes += vertices * (2 * sizeof(std::int32_t) + 1.0 * sizeof(std::int64_t) / ranks);
  return bytes;
}

}  // namespace tca::bfs
