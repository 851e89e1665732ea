// Tests the searches of BFS against a serial one.
#include <gtest/gtest.h>

#include <algorithm>
#include <cstdint>
#include <deque>
#include <memory>
#include <vector>

#include "bfs/graph/generator.hpp"
#include "bfs/graph/graph.hpp"
#include "bfs/graph/partition.hpp"
#include "bfs/graph/roots.hpp"
#include "bfs/measure.hpp"
#include "bfs/messages/exchange.hpp"
#include "bfs/problem.hpp"
#include "bfs/search.hpp"
#include "bfs/validator.hpp"
#include "tca/world.hpp"

namespace tca::bfs {
namespace {

// The search that all others are held against, by a queue.
class Serial {
 public:
  Serial(const Problem& problem, const std::vector<Edge>& edges)
      : neighbours_(static_cast<std::size_t>(problem.vertices())), edges_(edges) {
    for (const Edge& edge : edges) {
      neighbours_[static_cast<std::size_t>(edge.from)].push_back(edge.to);
      neighbours_[static_cast<std::size_t>(edge.to)].push_back(edge.from);
    }
  }

  std::vector<int> levels(Vertex root) const {
    std::vector<int> level(neighbours_.size(), -1);
    std::deque<Vertex> queue{root};
    level[static_cast<std::size_t>(root)] = 0;
    while (!queue.empty()) {
      const auto vertex = static_cast<std::size_t>(queue.front());
      queue.pop_front();
      for (const Vertex next : neighbours_[vertex]) {
        if (level[static_cast<std::size_t>(next)] >= 0) continue;
        level[static_cast<std::size_t>(next)] = level[vertex] + 1;
        queue.push_back(next);
      }
    }
    return level;
  }

  std::int64_t edges_within(const std::vector<int>& levels) const {
    return std::ranges::count_if(
        edges_, [&](const Edge& edge) { return levels[static_cast<std::size_t>(edge.from)] >= 0; });
  }

 private:
  std::vector<std::vector<Vertex>> neighbours_;
  const std::vector<Edge>& edges_;
};

// How many parents lead from each vertex to the root.
std::vector<int> levels_by(const std::vector<Vertex>& parents, Vertex root) {
  std::vector<int> level(parents.size(), -1);
  level[static_cast<std::size_t>(root)] = 0;
  bool found = true;
  for (int depth = 0; found; ++depth) {
    found = false;
    for (std::size_t vertex = 0; vertex < parents.size(); ++vertex) {
      if (level[vertex] >= 0 || parents[vertex] == nowhere) continue;
      if (level[static_cast<std::size_t>(parents[vertex])] != depth) continue;
      level[vertex] = depth + 1;
      found = true;
    }
  }
  return level;
}

struct Tried {
  Vertex root;
  int levels;
  std::int64_t edges;
  std::vector<Vertex> parents;          // of all vertices
  std::vector<std::int64_t> collected;  // on rank 0
};

// Searches from the benchmark's roots.
std::vector<Tried> search_all(const Problem& problem, int ranks, Style style, int count,
                              const WorldOptions& options = {}) {
  std::vector<Tried> tried;
  World::run_threads(
      ranks,
      [&](World& world) {
        const Partition partition(problem, ranks);
        const Graph graph =
            make_graph(world, partition, make_edges(problem, edges_of(problem, world.rank(), ranks)));
        const auto search = make_search(world, graph, style);
        const auto exchange = direct_exchange(world, search->sendings());
        for (const Vertex root : sample_roots(problem, graph, count)) {
          const int levels = search->run(root, *exchange);
          const std::int64_t edges = edges_traversed(world, graph, search->parents());
          if (world.rank() == 0) {
            const auto collected = search->collected();
            tried.push_back({root,
                             levels,
                             edges,
                             std::vector<Vertex>(static_cast<std::size_t>(partition.room())),
                             {collected.begin(), collected.end()}});
          }
          world.barrier();
          std::ranges::copy(search->parents(), tried.back().parents.begin() + partition.first(world.rank()));
          world.barrier();
        }
      },
      options);
  return tried;
}

void expect_as_serial(const Problem& problem, const std::vector<Tried>& tried) {
  const std::vector<Edge> edges = make_edges(problem, {0, problem.edges()});
  const Serial serial(problem, edges);
  for (const Tried& one : tried) {
    std::vector<int> expected = serial.levels(one.root);
    EXPECT_EQ(one.levels, std::ranges::max(expected)) << one.root;
    EXPECT_EQ(one.edges, serial.edges_within(expected)) << one.root;
    expected.resize(one.parents.size(), -1);  // those that do not exist are nowhere
    ASSERT_EQ(levels_by(one.parents, one.root), expected)
        << "from " << one.root << ", scale " << problem.scale;
  }
}

// A search takes as long as the graph is large, and under ThreadSanitizer dozens of times as long as without.
#ifdef __SANITIZE_THREAD__
constexpr int largest_scale_of_all_roots = 10;
#else
constexpr int largest_scale_of_all_roots = 14;
#endif

TEST(BfsSearch, FindsTheLevelsThatASerialOneFindsFromAllRoots) {
  for (int scale = 8; scale <= largest_scale_of_all_roots; ++scale)
    for (const Style style : {Style::packed, Style::paper}) {
      const std::vector<Tried> tried = search_all({.scale = scale}, 2, style, 64);
      EXPECT_EQ(tried.size(), 64U);
      expect_as_serial({.scale = scale}, tried);
    }
}

TEST(BfsSearch, FindsTheSameTreeOnEveryNumberOfRanks) {
  const Problem problem{.scale = 10};
  for (const Style style : {Style::packed, Style::paper}) {
    const std::vector<Tried> of_one = search_all(problem, 1, style, 8);
    expect_as_serial(problem, of_one);
    for (const int ranks : {3, 4, 16}) {
      const std::vector<Tried> tried = search_all(problem, ranks, style, 8);
      ASSERT_EQ(tried.size(), of_one.size());
      for (std::size_t which = 0; which < tried.size(); ++which) {
        std::vector<Vertex> parents = tried[which].parents;
        parents.resize(of_one[which].parents.size());
        EXPECT_EQ(parents, of_one[which].parents) << ranks << " ranks, search " << which;
      }
    }
  }
}

TEST(BfsSearch, CollectsThePapersTreeOnRank0) {
  for (const Tried& one : search_all({.scale = 9}, 3, Style::paper, 8))
    EXPECT_TRUE(std::ranges::equal(one.collected, one.parents)) << one.root;
  for (const Tried& one : search_all({.scale = 9}, 2, Style::packed, 2)) EXPECT_TRUE(one.collected.empty());
}

TEST(BfsSearch, WorksInVirtualTime) {
  for (const Style style : {Style::packed, Style::paper}) {
    const auto tried = search_all({.scale = 9}, 4, style, 4, {.fabric = "sim", .machine = "ha-pacs-tca"});
    EXPECT_EQ(tried.size(), 4U);
    expect_as_serial({.scale = 9}, tried);
  }
}

// From a component of two vertices, and from one side of a path that is longer than any level of a random
// graph.
TEST(BfsSearch, GoesThroughSmallComponentsAndLongPaths) {
  const Problem problem{.scale = 8};
  std::vector<Edge> edges{{200, 201}};
  for (Vertex vertex = 0; vertex < 150; ++vertex) edges.push_back({vertex + 1, vertex});
  for (const Style style : {Style::packed, Style::paper}) {
    World::run_threads(3, [&](World& world) {
      const Graph graph =
          make_graph(world, Partition(problem, 3), world.rank() == 0 ? edges : std::vector<Edge>());
      const auto search = make_search(world, graph, style);
      const auto exchange = direct_exchange(world, search->sendings());
      EXPECT_EQ(search->run(0, *exchange), 150);
      EXPECT_EQ(edges_traversed(world, graph, search->parents()), 150);
      EXPECT_EQ(search->run(201, *exchange), 1);
      EXPECT_EQ(edges_traversed(world, graph, search->parents()), 1);
      EXPECT_EQ(search->run(75, *exchange), 75);
    });
  }
}

TEST(BfsMeasure, CountsWhatTheBenchmarkCounts) {
  const Problem problem{.scale = 9};
  World::run_threads(2, [&](World& world) {
    const Partition partition(problem, 2);
    const std::vector<Edge> edges = make_edges(problem, edges_of(problem, world.rank(), 2));
    const Graph graph = make_graph(world, partition, edges);
    const auto search = make_search(world, graph, Style::paper);
    const auto exchange = direct_exchange(world, search->sendings());
    const auto way = host_way(world, *search, *exchange);
    Way* const only = way.get();
    Validator validator(world, partition, edges);
    const std::vector<Vertex> roots = sample_roots(problem, graph, 5);
    const Result result = measure(world, graph, {&only, 1}, roots, &validator)[0];
    EXPECT_EQ(result.failures, 0U);
    ASSERT_EQ(result.samples_us.size(), 5U);
    double inverses = 0;
    for (std::size_t i = 0; i < 5; ++i) {
      EXPECT_NEAR(result.teps()[i], static_cast<double>(result.edges[i]) * 1e6 / result.samples_us[i], 1);
      inverses += 1 / result.teps()[i];
    }
    EXPECT_NEAR(result.harmonic_mean() * inverses / 5, 1, 1e-12);
    ASSERT_EQ(result.messages.size(), 3U);
    EXPECT_EQ(result.messages[0].bytes, 4 * 512 / 2);  // OUT
    EXPECT_EQ(result.messages[1].bytes, 4);            // FLAG
    EXPECT_EQ(result.messages[2].bytes, 8 * 512 / 2);  // TREE
    EXPECT_EQ(result.messages[0].count, result.messages[1].count);
    EXPECT_EQ(result.messages[2].count, 1);
  });
}

}  // namespace
}  // namespace tca::bfs
