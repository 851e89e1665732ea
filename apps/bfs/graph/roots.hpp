// The vertices from which the benchmark searches.
#pragma once

#include <vector>

#include "bfs/graph/graph.hpp"

namespace tca::bfs {

// Returns different vertices that have neighbours other than themselves, drawn at random: `count` of them, or
// all that there are if these are fewer. The same on every rank, and for every number of ranks.
std::vector<Vertex> sample_roots(const Problem& problem, const Graph& graph, int count);

}  // namespace tca::bfs
