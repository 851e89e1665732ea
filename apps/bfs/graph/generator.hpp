// The Kronecker generator of the specification. Every edge follows from the seed and its own number alone, so
// a rank can draw any of them, and the graph is the same for every number of ranks.
#pragma once

#include <array>
#include <cstdint>
#include <vector>

#include "bfs/problem.hpp"
#include "shared/workers.hpp"
#include "tca/grid.hpp"

namespace tca::bfs {

class Kronecker {
 public:
  // The chance of each quarter of the adjacency matrix, at each of its levels: top left, top right, bottom
  // left. The rest is the bottom right one's.
  static constexpr double a = 0.57, b = 0.19, c = 0.19;

  explicit Kronecker(const Problem& problem);

  // Returns an edge of the benchmark. Numbers are from 0 to Problem::edges() - 1. Edges are independent of
  // one another, so their order is as random as if they had been shuffled, which the specification asks for.
  Edge edge(std::int64_t number) const;

  // Returns it as it was before its vertices got their labels.
  Edge unlabelled(std::int64_t number) const;

  // A permutation of the vertices, after which a label says nothing about how many neighbours there are.
  Vertex label(Vertex vertex) const;

 private:
  struct Round {
    std::uint64_t factor, summand;
  };

  Problem problem_;
  std::array<Round, 3> rounds_;
};

// Returns the edges of a range of numbers.
std::vector<Edge> make_edges(const Problem& problem, const Range& numbers, const Progress& progress = {},
                             const apps::Workers& workers = {});

// Returns the numbers of the edges that a rank draws.
Range edges_of(const Problem& problem, int rank, int ranks);

}  // namespace tca::bfs
