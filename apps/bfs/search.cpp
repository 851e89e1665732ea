#include "bfs/search.hpp"

#include <numeric>

namespace tca::bfs {

void Search::send(Message message, std::size_t which, Exchange& exchange, MessageTimes* times) {
  if (!times) return exchange.send(which);
  const double begin = world_.now().count();
  exchange.send(which);
  (*times)[static_cast<std::size_t>(message)].push_back((world_.now().count() - begin) * 1e6);
}

void Search::computed(std::int64_t looked_at, double bytes) {
  constexpr double for_each = sizeof(Vertex) + sizeof(std::uint64_t);
  world_.compute(static_cast<double>(tree_.looked_at() - looked_at) * for_each + bytes, 0);
}

// Every edge of the component has both of its ends at vertices of the tree.
std::int64_t edges_traversed(World& world, const Graph& graph, std::span<const Vertex> parents) {
  std::int64_t ends = 0;
  for (std::size_t vertex = 0; vertex < parents.size(); ++vertex)
    if (parents[vertex] != nowhere) ends += graph.ends[vertex];
  const std::vector<std::int64_t> all = world.all_gather(ends);
  return std::accumulate(all.begin(), all.end(), std::int64_t{0}) / 2;
}

}  // namespace tca::bfs
