#include "bfs/graph/graph.hpp"

#include <algorithm>
#include <numeric>

#include "bfs/graph/deliver.hpp"
#include "tca/coll.hpp"

namespace tca::bfs {

namespace {

// Makes lists of pairs (list, vertex), of which `for_each(act)` calls `act` with every one, twice.
template <class ForEach>
Lists lists_of(std::size_t count, const ForEach& for_each) {
  Lists lists{.begin = std::vector<std::int64_t>(count + 1), .vertex = {}};
  for_each([&](std::size_t list, Vertex) { ++lists.begin[list + 1]; });
  std::partial_sum(lists.begin.begin(), lists.begin.end(), lists.begin.begin());
  lists.vertex.resize(static_cast<std::size_t>(lists.begin.back()));
  std::vector<std::int64_t> next(lists.begin.begin(), lists.begin.end() - 1);
  for_each([&](std::size_t list, Vertex vertex) {
    lists.vertex[static_cast<std::size_t>(next[list]++)] = vertex;
  });
  return lists;
}

// Sorts each list, and leaves each of its vertices in it once.
void remove_duplicates(Lists& lists) {
  auto kept = lists.vertex.begin();
  for (std::size_t list = 0; list + 1 < lists.begin.size(); ++list) {
    const auto begin = lists.vertex.begin() + lists.begin[list];
    const auto end = lists.vertex.begin() + lists.begin[list + 1];
    std::sort(begin, end);
    lists.begin[list] = kept - lists.vertex.begin();
    Vertex last = nowhere;
    for (auto at = begin; at != end; ++at)
      if (*at != last) *kept++ = last = *at;
  }
  lists.begin.back() = kept - lists.vertex.begin();
  lists.vertex.erase(kept, lists.vertex.end());
  lists.vertex.shrink_to_fit();
}

std::vector<std::int32_t> ends_of(const std::vector<Edge>& directed, std::int64_t first, std::size_t each) {
  std::vector<std::int32_t> ends(each);
  for (const Edge& edge : directed)
    ends[static_cast<std::size_t>(edge.from - first)] += edge.from == edge.to ? 2 : 1;
  return ends;
}

Lists neighbours_of(const std::vector<Edge>& directed, std::int64_t first, std::size_t each) {
  Lists lists = lists_of(each, [&](const auto& act) {
    for (const Edge& edge : directed)
      if (edge.from != edge.to) act(static_cast<std::size_t>(edge.from - first), edge.to);
  });
  remove_duplicates(lists);
  return lists;
}

// Collective. Returns how many neighbours every vertex has.
std::vector<std::int32_t> gather_degrees(World& world, const Partition& partition, const Lists& neighbours) {
  AllGather<std::int32_t> gather(world, "DEGREES", partition.each());
  std::vector<std::int32_t> own(static_cast<std::size_t>(partition.each())), all(gather.to().size());
  for (std::size_t i = 0; i < own.size(); ++i) own[i] = static_cast<std::int32_t>(neighbours.of(i).size());
  gather.to().write(partition.first(world.rank()), own);
  gather.run();
  gather.to().read(0, all);
  return all;
}

void order_by_degree(Lists& lists, std::span<const std::int32_t> degrees, const Progress& progress) {
  constexpr std::size_t between_ticks = 1024;
  const auto comes_before = [&](Vertex a, Vertex b) {
    const auto of_a = degrees[static_cast<std::size_t>(a)], of_b = degrees[static_cast<std::size_t>(b)];
    return of_a != of_b ? of_a > of_b : a < b;
  };
  const std::size_t count = lists.begin.size() - 1;
  for (std::size_t list = 0; list < count; ++list) {
    std::sort(lists.vertex.begin() + lists.begin[list], lists.vertex.begin() + lists.begin[list + 1],
              comes_before);
    if (progress && list % between_ticks == 0)
      progress("ordering neighbours", static_cast<std::int64_t>(list), static_cast<std::int64_t>(count));
  }
}

// The other way round: for every vertex those in whose lists it is.
Lists reversed(const Lists& lists, std::size_t vertices) {
  return lists_of(vertices, [&](const auto& act) {
    for (std::size_t list = 0; list + 1 < lists.begin.size(); ++list)
      for (const Vertex vertex : lists.of(list))
        act(static_cast<std::size_t>(vertex), static_cast<Vertex>(list));
  });
}

std::vector<std::uint64_t> where_not_zero(std::span<const std::int32_t> degrees) {
  std::vector<std::uint64_t> bits(degrees.size() / Partition::in_word);
  for (std::size_t vertex = 0; vertex < degrees.size(); ++vertex)
    if (degrees[vertex] > 0)
      bits[word_of(static_cast<Vertex>(vertex))] |= bit_of(static_cast<Vertex>(vertex));
  return bits;
}

}  // namespace

Graph make_graph(World& world, const Partition& partition, std::span<const Edge> edges,
                 const Progress& progress) {
  const std::int64_t first = partition.first(world.rank());
  const auto each = static_cast<std::size_t>(partition.each());
  std::vector<Edge> directed = deliver(world, partition, edges, progress);
  Graph graph{.partition = partition,
              .rank = world.rank(),
              .neighbours = neighbours_of(directed, first, each),
              .own_neighbours = {},
              .ends = ends_of(directed, first, each),
              .connected = {},
              .directed_edges = 0};
  directed = {};
  const std::vector<std::int32_t> degrees = gather_degrees(world, partition, graph.neighbours);
  order_by_degree(graph.neighbours, degrees, progress);
  graph.own_neighbours = reversed(graph.neighbours, degrees.size());
  graph.connected = where_not_zero(degrees);
  graph.directed_edges = std::accumulate(degrees.begin(), degrees.end(), std::int64_t{0});
  return graph;
}

double bytes_to_make(const Problem& problem, int ranks) {
  const auto vertices = static_cast<double>(problem.vertices()), edges = static_cast<double>(problem.edges());
  // The list, its ends at their owners, and both kinds of neighbours, beside which the ends are gone by then.
  const double of_edges =
      sizeof(Edge) + 2 * std::max<double>(sizeof(Edge) + sizeof(Vertex), 2 * sizeof(Vertex));
  // Where neighbours begin, twice while they are sorted; degrees; and to validate, parents and levels.
  const double of_all = 2 * sizeof(std::int64_t) + 3 * sizeof(std::int32_t);
  const double of_own = 2 * sizeof(std::int64_t) + 2 * sizeof(std::int32_t);
  return (edges * of_edges + vertices * of_own) / ranks + vertices * of_all;
}

}  // namespace tca::bfs
