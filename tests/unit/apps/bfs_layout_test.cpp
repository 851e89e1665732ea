// Tests how a graph lies in the memory of a GPU, which needs none to be laid out.
#include <gtest/gtest.h>

#include <vector>

#include "bfs/gpu/layout.hpp"
#include "bfs/graph/generator.hpp"
#include "bfs/graph/graph.hpp"
#include "tca/world.hpp"

namespace tca::bfs {
namespace {

void expect_laid_out(const Graph& graph) {
  const GpuLayout layout = lay_out(graph);
  ASSERT_EQ(layout.begin.size(), graph.neighbours.begin.size());
  for (std::size_t own = 0; own + 1 < layout.begin.size(); ++own) {
    EXPECT_EQ(layout.begin[own], graph.neighbours.begin[own]);
    const bool is_without = (layout.without[own / in_gpu_word] >> own % in_gpu_word & 1) != 0;
    EXPECT_EQ(is_without, graph.neighbours.of(own).empty()) << own;
    EXPECT_EQ(layout.heads[own].size, graph.neighbours.of(own).size()) << own;
    if (is_without) continue;
    EXPECT_EQ(layout.heads[own].first, graph.neighbours.of(own).front()) << own;
  }
  // The parts are all of the long lists, and nothing else.
  auto part = layout.parts.begin();
  std::size_t long_lists = 0;
  for (std::size_t list = 0; list + 1 < layout.own_begin.size(); ++list) {
    if (graph.own_neighbours.of(list).size() <= layout.longest_list) continue;
    ++long_lists;
    for (Word at = layout.own_begin[list]; at < layout.own_begin[list + 1]; at += part++->size) {
      ASSERT_NE(part, layout.parts.end());
      ASSERT_GT(part->size, 0U);
      EXPECT_LE(part->size, layout.longest_list);
      EXPECT_EQ(part->vertex, static_cast<Vertex>(list));
      EXPECT_EQ(part->first, at);
    }
  }
  EXPECT_EQ(part, layout.parts.end());
  EXPECT_GT(long_lists, 0U);
}

TEST(BfsLayout, HasTheGraph) {
  const Problem problem{.scale = 11};
  World::run_threads(2, [&](World& world) {
    const Partition partition(problem, 2);
    const auto edges = make_edges(problem, edges_of(problem, world.rank(), 2));
    expect_laid_out(make_graph(world, partition, edges));
  });
}

TEST(BfsLayout, GridsGrowWithTheGraph) {
  for (const auto& [own_words, blocks, threads] :
       std::vector<std::array<unsigned, 3>>{{1, 1, 256}, {64, 8, 256}, {1056, 132, 256}, {1057, 132, 1024}}) {
    const GridSize size = grid_size(own_words, 132);
    EXPECT_EQ(size.blocks, blocks) << own_words;
    EXPECT_EQ(size.threads, threads) << own_words;
  }
}

TEST(BfsLayout, MemoryIsSharedOut) {
  const double one = bytes_on_gpu({.scale = 24}, 1), four = bytes_on_gpu({.scale = 24}, 4);
  EXPECT_GT(one, 2 * 2 * 16e6 * 16 * 4);  // both directions of all edges, twice
  EXPECT_GT(four, one / 4);
  EXPECT_LT(four, one / 2);
}

}  // namespace
}  // namespace tca::bfs
