#include "bfs/tree.hpp"

namespace tca::bfs {

void Tree::begin(Vertex root) {
  looked_at_ = 0;
  std::ranges::fill(parents_, nowhere);
  const std::span<const std::uint64_t> connected = graph_.own_connected();
  visited_.resize(connected.size());
  std::ranges::transform(connected, visited_.begin(), [](std::uint64_t bits) { return ~bits; });
  if (graph_.partition.owner(root) != graph_.rank) return;
  const auto own = static_cast<Vertex>(root - graph_.partition.first(graph_.rank));
  parents_[static_cast<std::size_t>(own)] = root;
  visited_[word_of(own)] |= bit_of(own);
}

Reached Tree::from_above(std::span<const std::uint64_t> frontier, std::span<std::uint64_t> next) {
  Reached reached;
  std::ranges::fill(next, 0);
  for_each_vertex(frontier, [&](Vertex parent) {
    const std::span<const Vertex> own = graph_.own_neighbours.of(static_cast<std::size_t>(parent));
    looked_at_ += static_cast<std::int64_t>(own.size());
    for (const Vertex vertex : own) {
      std::uint64_t& visited = visited_[word_of(vertex)];
      if ((visited & bit_of(vertex)) != 0) continue;
      visited |= bit_of(vertex);
      next[word_of(vertex)] |= bit_of(vertex);
      parents_[static_cast<std::size_t>(vertex)] = parent;
      ++reached.vertices;
      reached.neighbours +=
          static_cast<std::int64_t>(graph_.neighbours.of(static_cast<std::size_t>(vertex)).size());
    }
  });
  return reached;
}

}  // namespace tca::bfs
