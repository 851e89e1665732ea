#include "bfs/graph/graph.hpp"

#include <algorithm>
#include <atomic>
#include <numeric>
#include <utility>

#include "bfs/graph/deliver.hpp"
#include "tca/coll.hpp"

namespace tca::bfs {

namespace {

using apps::begin_of_part;
using apps::Workers;

// Counts in a number that other workers may count in too, and returns what it was before.
template <class Number>
Number count(const Workers& workers, Number& number, Number more = 1) {
  if (workers.count() > 1) return std::atomic_ref(number).fetch_add(more, std::memory_order_relaxed);
  return std::exchange(number, number + more);
}

// Calls act(list) for all lists, shared out over workers.
template <class Act>
void for_each_list(const Workers& workers, std::size_t lists, const Act& act) {
  // Lists differ in length by chance alone, since labels are random.
  workers.share([&](int part, int parts) {
    const std::size_t end = begin_of_part(lists, part + 1, parts);
    for (std::size_t list = begin_of_part(lists, part, parts); list < end; ++list) act(list);
  });
}

// Makes lists of pairs (list, vertex), each in ascending order. `for_each(part, parts, act)` calls `act` with
// every pair of a part of them, twice.
template <class ForEach>
Lists lists_of(const Workers& workers, std::size_t lists, const ForEach& for_each) {
  Lists made{.begin = std::vector<std::int64_t>(lists + 1), .vertex = {}};
  workers.share([&](int part, int parts) {
    for_each(part, parts, [&](std::size_t list, Vertex) { count(workers, made.begin[list + 1]); });
  });
  std::partial_sum(made.begin.begin(), made.begin.end(), made.begin.begin());
  made.vertex.resize(static_cast<std::size_t>(made.begin.back()));
  std::vector<std::int64_t> next(made.begin.begin(), made.begin.end() - 1);
  workers.share([&](int part, int parts) {
    for_each(part, parts, [&](std::size_t list, Vertex vertex) {
      made.vertex[static_cast<std::size_t>(count(workers, next[list]))] = vertex;
    });
  });
  for_each_list(workers, lists, [&](std::size_t list) {
    const auto begin = made.vertex.begin() + made.begin[list],
               end = made.vertex.begin() + made.begin[list + 1];
    if (!std::is_sorted(begin, end)) std::sort(begin, end);
  });
  return made;
}

// Leaves each vertex of a list in it once.
void remove_duplicates(Lists& lists) {
  auto kept = lists.vertex.begin();
  for (std::size_t list = 0; list + 1 < lists.begin.size(); ++list) {
    const auto begin = lists.vertex.begin() + lists.begin[list];
    const auto end = lists.vertex.begin() + lists.begin[list + 1];
    lists.begin[list] = kept - lists.vertex.begin();
    Vertex last = nowhere;
    for (auto at = begin; at != end; ++at)
      if (*at != last) *kept++ = last = *at;
  }
  lists.begin.back() = kept - lists.vertex.begin();
  lists.vertex.erase(kept, lists.vertex.end());
  lists.vertex.shrink_to_fit();
}

// Calls act(edge) for a part of the edges.
template <class Act>
void for_each_edge(const std::vector<Edge>& edges, int part, int parts, const Act& act) {
  const std::size_t end = begin_of_part(edges.size(), part + 1, parts);
  for (std::size_t i = begin_of_part(edges.size(), part, parts); i < end; ++i) act(edges[i]);
}

std::vector<std::int32_t> ends_of(const Workers& workers, const std::vector<Edge>& directed,
                                  std::int64_t first, std::size_t each) {
  std::vector<std::int32_t> ends(each);
  workers.share([&](int part, int parts) {
    for_each_edge(directed, part, parts, [&](const Edge& edge) {
      count(workers, ends[static_cast<std::size_t>(edge.from - first)], edge.from == edge.to ? 2 : 1);
    });
  });
  return ends;
}

Lists neighbours_of(const Workers& workers, const std::vector<Edge>& directed, std::int64_t first,
                    std::size_t each) {
  Lists lists = lists_of(workers, each, [&](int part, int parts, const auto& act) {
    for_each_edge(directed, part, parts, [&](const Edge& edge) {
      if (edge.from != edge.to) act(static_cast<std::size_t>(edge.from - first), edge.to);
    });
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

void order_by_degree(const Workers& workers, Lists& lists, std::span<const std::int32_t> degrees) {
  const auto comes_before = [&](Vertex a, Vertex b) {
    const auto of_a = degrees[static_cast<std::size_t>(a)], of_b = degrees[static_cast<std::size_t>(b)];
    return of_a != of_b ? of_a > of_b : a < b;
  };
  for_each_list(workers, lists.begin.size() - 1, [&](std::size_t list) {
    std::sort(lists.vertex.begin() + lists.begin[list], lists.vertex.begin() + lists.begin[list + 1],
              comes_before);
  });
}

// The other way round: for every vertex those in whose lists it is.
Lists reversed(const Workers& workers, const Lists& lists, std::size_t vertices) {
  return lists_of(workers, vertices, [&](int part, int parts, const auto& act) {
    const std::size_t count = lists.begin.size() - 1, end = begin_of_part(count, part + 1, parts);
    for (std::size_t list = begin_of_part(count, part, parts); list < end; ++list)
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
                 const Progress& progress, const Workers& workers) {
  const std::int64_t first = partition.first(world.rank());
  const auto each = static_cast<std::size_t>(partition.each());
  std::vector<Edge> directed = deliver(world, partition, edges, progress);
  Graph graph{.partition = partition,
              .rank = world.rank(),
              .neighbours = neighbours_of(workers, directed, first, each),
              .own_neighbours = {},
              .ends = ends_of(workers, directed, first, each),
              .connected = {},
              .directed_edges = 0};
  directed = {};
  const std::vector<std::int32_t> degrees = gather_degrees(world, partition, graph.neighbours);
  order_by_degree(workers, graph.neighbours, degrees);
  graph.own_neighbours = reversed(workers, graph.neighbours, degrees.size());
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
