#include "bfs/graph/roots.hpp"

#include <algorithm>
#include <bit>
#include <numeric>

#include "bfs/graph/random.hpp"
#include "bfs/tree.hpp"

namespace tca::bfs {

std::vector<Vertex> sample_roots(const Problem& problem, const Graph& graph, int count) {
  const std::int64_t present = std::transform_reduce(
      graph.connected.begin(), graph.connected.end(), std::int64_t{0}, std::plus<>(),
      [](std::uint64_t bits) { return static_cast<std::int64_t>(std::popcount(bits)); });
  std::vector<Vertex> roots;
  if (present <= count) {
    for_each_vertex(graph.connected, [&](Vertex vertex) { roots.push_back(vertex); });
    return roots;
  }
  for (std::int64_t draws = 0; static_cast<std::int64_t>(roots.size()) < count; ++draws) {
    const auto drawn =
        static_cast<Vertex>(draw(problem.seed, Purpose::root, draws).word[0] >> (32 - problem.scale));
    const bool has_neighbours = (graph.connected[word_of(drawn)] & bit_of(drawn)) != 0;
    if (has_neighbours && std::ranges::find(roots, drawn) == roots.end()) roots.push_back(drawn);
  }
  return roots;
}

}  // namespace tca::bfs
