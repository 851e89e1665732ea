// What a rank knows of a search about its own vertices, and the two ways to reach further ones: level by
// level, from above or from below (S. Beamer, K. Asanović, D. Patterson, "Direction-optimizing breadth-first
// search", SC12).
#pragma once

#include <algorithm>
#include <bit>
#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

#include "bfs/direction.hpp"
#include "bfs/graph/graph.hpp"

namespace tca::bfs {

// Calls `act` with each vertex of a bitmap, counted from its beginning.
template <class Act>
void for_each_vertex(std::span<const std::uint64_t> bits, const Act& act) {
  for (std::size_t word = 0; word < bits.size(); ++word)
    for (std::uint64_t left = bits[word]; left != 0; left &= left - 1)
      act(static_cast<Vertex>(word * Partition::in_word + static_cast<std::size_t>(std::countr_zero(left))));
}

class Tree {
 public:
  explicit Tree(const Graph& graph)
      : graph_(graph), parents_(static_cast<std::size_t>(graph.partition.each())), visited_() {}

  // Begins again, with a root that any rank may own.
  void begin(Vertex root);

  // From above: goes through the neighbours of the frontier, a bitmap of all vertices. Sets the bits of the
  // own ones that have not been reached before in `next`, and clears all others.
  Reached from_above(std::span<const std::uint64_t> frontier, std::span<std::uint64_t> next);

  // From below: every own vertex that has not been reached looks for a neighbour in the frontier, as which
  // `is_in_frontier(vertex)` counts it. Calls `store(word, bits)` with those that find one, for each word of
  // own vertices.
  template <class IsInFrontier, class Store>
  Reached from_below(const IsInFrontier& is_in_frontier, const Store& store);

  // For each own vertex its parent, or `nowhere`.
  std::span<const Vertex> parents() const { return parents_; }

  // How many neighbours have been looked at since it began.
  std::int64_t looked_at() const { return looked_at_; }

 private:
  const Graph& graph_;
  std::vector<Vertex> parents_;
  std::vector<std::uint64_t> visited_;  // as are those that have no neighbours
  std::int64_t looked_at_ = 0;
};

template <class IsInFrontier, class Store>
Reached Tree::from_below(const IsInFrontier& is_in_frontier, const Store& store) {
  Reached reached;
  for (std::size_t word = 0; word < visited_.size(); ++word) {
    std::uint64_t found = 0;
    for (std::uint64_t left = ~visited_[word]; left != 0; left &= left - 1) {
      const std::size_t vertex = word * Partition::in_word + static_cast<std::size_t>(std::countr_zero(left));
      const std::span<const Vertex> neighbours = graph_.neighbours.of(vertex);
      const auto parent = std::ranges::find_if(neighbours, is_in_frontier);
      looked_at_ += parent - neighbours.begin();
      if (parent == neighbours.end()) continue;
      ++looked_at_;
      parents_[vertex] = *parent;
      found |= left & -left;
      ++reached.vertices;
      reached.neighbours += static_cast<std::int64_t>(neighbours.size());
    }
    visited_[word] |= found;
    store(word, found);
  }
  return reached;
}

}  // namespace tca::bfs
