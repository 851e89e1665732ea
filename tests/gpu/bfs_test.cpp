// Compares breadth-first searches on GPUs with a search on one rank of a host, and has them validated.
//
// Ranks are threads, so that one GPU can hold several whose kernels wait for each other.
#include <gtest/gtest.h>

#include <algorithm>
#include <memory>
#include <string>
#include <vector>

#include "bfs/gpu/exchange.hpp"
#include "bfs/gpu/graph.hpp"
#include "bfs/gpu/way.hpp"
#include "bfs/graph/generator.hpp"
#include "bfs/graph/roots.hpp"
#include "bfs/measure.hpp"
#include "bfs/search.hpp"
#include "bfs/validator.hpp"
#include "ranks.hpp"

namespace tca::bfs {
namespace {

std::vector<Edge> own_edges(World& world, const Problem& problem) {
  return make_edges(problem, edges_of(problem, world.rank(), world.size()));
}

Graph graph_of(World& world, const Problem& problem, const std::vector<Edge>& edges) {
  return make_graph(world, Partition(problem, world.size()), edges);
}

// How many levels a search on a host finds below each of the benchmark's roots. A tree of so many levels that
// the validator accepts has every vertex at the level at which a serial search has it.
std::vector<int> levels_on_host(const Problem& problem, int count) {
  std::vector<int> levels;
  World::run_threads(1,
                     [&](World& world) {
                       const Graph graph = graph_of(world, problem, own_edges(world, problem));
                       const auto search = packed_search(world, graph);
                       const auto exchange = direct_exchange(world, search->sendings());
                       for (const Vertex root : sample_roots(problem, graph, count))
                         levels.push_back(search->run(root, *exchange));
                     },
                     {.fabric = "shm"});
  return levels;
}

struct Case {
  int scale, ranks;
  Start start;
  Style style = Style::packed;

  std::string name() const {
    return fmt::format("{}_{}_{}{}", scale, ranks, name_of(start), style == Style::paper ? "_paper" : "");
  }
};

std::vector<Case> all_cases() {
  std::vector<Case> cases;
  for (const int scale : {8, 10, 12})
    for (const int ranks : {1, 2, 3, 4})
      for (const Start start : {Start::resident, Start::kernel, Start::graph, Start::host})
        cases.push_back({scale, ranks, start});
  for (const int ranks : {1, 2, 3})
    for (const Start start : {Start::graph, Start::host}) cases.push_back({10, ranks, start, Style::paper});
  // Long lists, whole blocks, and several words a warp.
  for (const int scale : {16, 18})
    for (const int ranks : {1, 2}) cases.push_back({scale, ranks, Start::resident});
  return cases;
}

class BfsOnGpu : public testing::TestWithParam<Case> {};

// Several searches follow one another, so that each begins with what the last one has left.
TEST_P(BfsOnGpu, AgreesWithTheHost) {
  const Case& one = GetParam();
  constexpr int count = 8;
  const Problem problem{.scale = one.scale};
  const std::vector<int> expected = levels_on_host(problem, count);
  const std::string failure = test::thread_ranks("cuda")->run(one.ranks, [&](World& world) {
    check_gpus(world, problem);
    const std::vector<Edge> edges = own_edges(world, problem);
    const Graph graph = graph_of(world, problem, edges);
    const GpuGraph on_gpu(world, graph);
    const auto way = make_way(world, on_gpu, one.style, one.start);
    Validator validator(world, graph.partition, edges);
    const std::vector<Vertex> roots = sample_roots(problem, graph, count);
    Way* const only = way.get();
    const Result result = measure(world, graph, {&only, 1}, roots, &validator)[0];
    test::require(!result.first, "from vertex {}: {}", result.first ? result.first->root : nowhere,
                  result.first ? result.first->fault.describe() : "");
    test::require(result.levels == expected, "a search has another number of levels than on a host");
    test::require(result.samples_us.size() == roots.size() && result.samples_us[0] > 0,
                  "the searches have no times");
    const bool by_levels = one.start == Start::host || one.start == Start::graph;
    const bool are_timed = by_levels && one.style == Style::packed && one.ranks > 1;
    test::require(result.messages.size() == (are_timed ? 1U : 0U), "{} messages are timed",
                  result.messages.size());
  });
  EXPECT_EQ(failure, "");
}

INSTANTIATE_TEST_SUITE_P(Gpu, BfsOnGpu, testing::ValuesIn(all_cases()),
                         [](const auto& test) { return test.param.name(); });

// A tree that is wrong in one vertex is refused: what is validated is what the GPU has found.
TEST(BfsOnGpus, PlantedErrorsAreFound) {
  const Problem problem{.scale = 10};
  const std::string failure = test::thread_ranks("cuda")->run(2, [&](World& world) {
    const std::vector<Edge> edges = own_edges(world, problem);
    const Graph graph = graph_of(world, problem, edges);
    const GpuGraph on_gpu(world, graph);
    const auto way = kernel_way(world, on_gpu, Start::kernel);
    Validator validator(world, graph.partition, edges);
    const Vertex root = sample_roots(problem, graph, 1)[0];
    way->run(root);
    const std::span<const Vertex> found = way->parents();
    const std::int64_t counted = edges_traversed(world, graph, found);
    test::require(!validator.check(root, found, counted), "the search is wrong");
    const auto refused = [&](Rule rule, const auto& plant) {
      std::vector<Vertex> parents(found.begin(), found.end());
      for (std::size_t own = 0; world.rank() == 1 && own < parents.size(); ++own) {
        const Vertex vertex = static_cast<Vertex>(own) + static_cast<Vertex>(graph.partition.first(1));
        if (parents[own] == nowhere || vertex == root) continue;
        parents[own] = plant(vertex);
        break;
      }
      const auto fault = validator.check(root, parents, counted);
      test::require(fault && fault->rule == rule, "rule {} is not found to be broken",
                    static_cast<int>(rule));
    };
    refused(Rule::tree, [](Vertex vertex) { return vertex; });
    refused(Rule::component, [](Vertex) { return nowhere; });
    const auto fault = validator.check(root, found, counted + 1);
    test::require(fault && fault->rule == Rule::edges_counted, "a wrong number of edges is accepted");
  });
  EXPECT_EQ(failure, "");
}

// Several ways share one graph and take turns, as in a comparison.
TEST(BfsOnGpus, WaysTakeTurns) {
  const Problem problem{.scale = 11};
  const std::string failure = test::thread_ranks("cuda")->run(2, [&](World& world) {
    const std::vector<Edge> edges = own_edges(world, problem);
    const Graph graph = graph_of(world, problem, edges);
    const GpuGraph on_gpu(world, graph);
    std::vector<std::unique_ptr<GpuWay>> owned;
    std::vector<Way*> ways;
    for (const Start start : {Start::resident, Start::kernel, Start::graph, Start::host})
      ways.push_back(owned.emplace_back(make_way(world, on_gpu, Style::packed, start)).get());
    Validator validator(world, graph.partition, edges);
    const auto results = measure(world, graph, ways, sample_roots(problem, graph, 6), &validator);
    for (const Result& result : results) {
      test::require(result.failures == 0, "a search is wrong");
      test::require(result.levels == results[0].levels, "two ways find other levels");
    }
  });
  EXPECT_EQ(failure, "");
}

// What TREE brings to rank 0's host are the parents that all ranks have found.
TEST(BfsOnGpus, TheTreeIsCollectedOnAHost) {
  const Problem problem{.scale = 9};
  const std::string failure = test::thread_ranks("cuda")->run(2, [&](World& world) {
    const std::vector<Edge> edges = own_edges(world, problem);
    const Graph graph = graph_of(world, problem, edges);
    const GpuGraph on_gpu(world, graph);
    const auto way = make_way(world, on_gpu, Style::paper, Start::host);
    for (const Vertex root : sample_roots(problem, graph, 2)) {
      way->run(root);
      const std::span<const Vertex> own = way->parents();
      std::vector<Vertex> all(2 * own.size());
      world.all_gather(std::as_bytes(own), std::as_writable_bytes(std::span(all)));
      const std::span<const std::int64_t> collected = way->collected();
      test::require(world.rank() == 0 ? std::ranges::equal(collected, all) : collected.empty(),
                    "rank {} has another tree", world.rank());
    }
  });
  EXPECT_EQ(failure, "");
}

TEST(BfsOnGpus, OneKernelHasNoMessagesToHosts) {
  const std::string failure = test::thread_ranks("cuda")->run(1, [&](World& world) {
    const Problem problem{.scale = 8};
    const std::vector<Edge> edges = own_edges(world, problem);
    const Graph graph = graph_of(world, problem, edges);
    make_way(world, GpuGraph(world, graph), Style::paper, Start::kernel);
  });
  EXPECT_NE(failure.find("with the messages of the paper hosts decide after each level"), std::string::npos);
}

// One kernel takes root after root, also behind one that has left, and what it has found can be read meanwhile.
TEST(BfsOnGpus, OneKernelTakesRootAfterRoot) {
  const Problem problem{.scale = 10};
  const std::string failure = test::thread_ranks("cuda")->run(2, [&](World& world) {
    const std::vector<Edge> edges = own_edges(world, problem);
    const Graph graph = graph_of(world, problem, edges);
    const GpuGraph on_gpu(world, graph);
    const auto way = kernel_way(world, on_gpu, Start::resident);
    Validator validator(world, graph.partition, edges);
    const std::vector<Vertex> roots = sample_roots(problem, graph, 9);
    for (std::size_t which = 0; which < roots.size(); ++which) {
      way->run(roots[which]);
      if (which % 3 != 2) continue;
      const auto found = way->parents();
      way->leave();
      const auto fault = validator.check(roots[which], found, edges_traversed(world, graph, found));
      test::require(!fault, "from vertex {}: {}", roots[which], fault ? fault->describe() : "");
    }
  });
  EXPECT_EQ(failure, "");
}

// Before anything is generated: the list alone would take hundreds of gigabytes.
TEST(BfsOnGpus, RefusesWhatDoesNotFit) {
  const auto refuse = [](int scale, int edge_factor) {
    return test::thread_ranks("cuda")->run(
        1, [=](World& world) { check_gpus(world, {.scale = scale, .edge_factor = edge_factor}); });
  };
  EXPECT_NE(refuse(27, 1000).find("scale 27 needs about"), std::string::npos);
  EXPECT_NE(refuse(27, 1000).find("take more GPUs, or a smaller scale"), std::string::npos);
  EXPECT_NE(refuse(28, 16).find("scale 28 is too large for GPUs, which search up to 27"), std::string::npos);
}

}  // namespace
}  // namespace tca::bfs
