// Tests the validator of BFS: it accepts a right tree, and finds each fault that is planted in it.
#include <gtest/gtest.h>

#include <functional>
#include <optional>
#include <string>
#include <vector>

#include "bfs/cli/report.hpp"
#include "bfs/graph/partition.hpp"
#include "bfs/problem.hpp"
#include "bfs/validator.hpp"
#include "tca/world.hpp"

namespace tca::bfs {
namespace {

// A path 0 - 64 - 1 - 65 - 2 with a triangle at its begin, another component, a vertex that is joined to
// itself alone, one in the tree that is, too, and an edge that is listed twice. Two ranks own 64 vertices
// each.
const Problem small{.scale = 7};
const std::vector<Edge> list{{0, 64}, {64, 1},  {1, 65},  {2, 65}, {0, 3},
                             {3, 64}, {10, 11}, {12, 12}, {3, 3},  {64, 0}};
constexpr std::int64_t in_component = 8;

std::vector<Vertex> right_tree() {
  std::vector<Vertex> parents(128, nowhere);
  parents[0] = parents[64] = parents[3] = 0;
  parents[1] = 64;
  parents[65] = 1;
  parents[2] = 65;
  return parents;
}

std::optional<Fault> verdict_on(const std::vector<Vertex>& parents, std::int64_t counted = in_component) {
  std::optional<Fault> found;
  World::run_threads(2, [&](World& world) {
    const Partition partition(small, 2);
    const std::size_t half = list.size() / 2, first = static_cast<std::size_t>(world.rank());
    Validator validator(world, partition, std::span(list).subspan(first * half, half));
    const auto own = std::span(parents).subspan(first * 64, 64);
    const std::optional<Fault> fault = validator.check(0, own, counted);
    // A second time, as what it remembers must not matter.
    const std::optional<Fault> again = validator.check(0, own, counted);
    EXPECT_EQ(fault.has_value(), again.has_value());
    const auto all = world.all_gather(fault ? static_cast<int>(fault->rule) : 0);
    EXPECT_EQ(all[0], all[1]);
    if (world.rank() == 0) found = fault;
  });
  return found;
}

struct Planted {
  const char* what;
  std::function<void(std::vector<Vertex>&)> plant;
  Rule rule;
  const char* said;
};

TEST(BfsValidator, AcceptsARightTree) {
  const auto fault = verdict_on(right_tree());
  EXPECT_FALSE(fault.has_value()) << fault->describe();
}

TEST(BfsValidator, FindsPlantedFaults) {
  const std::vector<Planted> faults{
      {"a cycle", [](auto& parents) { parents[1] = 65; }, Rule::tree,
       "rule 1, parents lead to the root: from 1 by its parent 65 they do not"},
      {"a cycle of one", [](auto& parents) { parents[2] = 2; }, Rule::tree,
       "rule 1, parents lead to the root: from 2 by its parent 2 they do not"},
      {"a root that has another parent", [](auto& parents) { parents[0] = 64; }, Rule::tree,
       "rule 1, parents lead to the root: from 0 by its parent 64 they do not"},
      {"a root without a parent", [](auto& parents) { parents[0] = nowhere; }, Rule::tree,
       "rule 1, the root is its own parent: 0 has none"},
      {"a parent that is not in the tree", [](auto& parents) { parents[65] = nowhere; }, Rule::tree,
       "rule 1, parents lead to the root: from 2 by its parent 65 they do not"},
      {"a parent that does not exist", [](auto& parents) { parents[2] = 999; }, Rule::tree,
       "rule 1, parents lead to the root: from 2 by its parent 999 they do not"},
      {"a skipped level", [](auto& parents) { parents[64] = 3; }, Rule::listed_edges,
       "rule 3, the ends of an edge are at most one level apart: of edge 0 - 64, 0 is at level 0, 64 is at "
       "level 2"},
      {"a missing vertex", [](auto& parents) { parents[2] = nowhere; }, Rule::component,
       "rule 4, the tree has the root's whole component: of edge 2 - 65, 2 is not in the tree, 65 is at "
       "level 3"},
      {"a vertex of another component", [](auto& parents) { parents[10] = 0; }, Rule::component,
       "rule 4, the tree has the root's whole component: of edge 10 - 11, 10 is at level 1, 11 is not in the "
       "tree"},
      {"a wrong parent, at the right level", [](auto& parents) { parents[1] = 3; }, Rule::parents,
       "rule 5, an edge joins a vertex and its parent: there is no edge 1 - 3"},
      {"a whole component joined by no edge",
       [](auto& parents) {
         parents[10] = 0;
         parents[11] = 10;
       },
       Rule::parents, "rule 5, an edge joins a vertex and its parent: there is no edge 10 - 0"},
      {"a vertex that is joined to itself alone", [](auto& parents) { parents[12] = 0; }, Rule::parents,
       "rule 5, an edge joins a vertex and its parent: there is no edge 12 - 0"},
  };
  for (const Planted& fault : faults) {
    std::vector<Vertex> parents = right_tree();
    fault.plant(parents);
    // With as many edges as there are in what the tree has, so that only the fault can be found.
    const auto found = verdict_on(
        parents, parents[11] != nowhere || parents[12] != nowhere ? in_component + 1 : in_component);
    ASSERT_TRUE(found.has_value()) << fault.what;
    EXPECT_EQ(found->rule, fault.rule) << fault.what;
    EXPECT_EQ(found->describe(), fault.said) << fault.what;
  }
}

TEST(BfsValidator, CountsTheEdges) {
  for (const std::int64_t counted :
       {in_component - 1, in_component + 1}) {  // without the one listed twice; more
    const auto found = verdict_on(right_tree(), counted);
    ASSERT_TRUE(found.has_value());
    EXPECT_EQ(found->rule, Rule::edges_counted);
    EXPECT_EQ(found->describe(), "the component has 8 edges, not " + std::to_string(counted));
  }
}

TEST(BfsValidator, MakesTheCommandSayWhatIsWrong) {
  std::vector<Vertex> parents = right_tree();
  parents[1] = 3;
  Result result{.samples_us = {1, 2}, .edges = {8, 8}, .levels = {4, 4}};
  EXPECT_NE(tool::bfs_answer(result, false).find("not validated"), std::string::npos);
  EXPECT_NE(tool::bfs_answer(result, true).find("right"), std::string::npos);
  result.failures = 1;
  result.first = Failure{.root = 0, .fault = *verdict_on(parents)};
  EXPECT_EQ(tool::bfs_answer(result, true),
            "WRONG: 1 of 2 searches; the first of them from vertex 0: rule 5, an edge joins a vertex and its "
            "parent: there is no edge 1 - 3");
  const tool::BfsReport report{.problem = small, .style = "packed", .validated = true, .results = {result}};
  EXPECT_FALSE(report.is_right());
}

}  // namespace
}  // namespace tca::bfs
