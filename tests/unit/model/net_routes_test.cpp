// Tests the routes over interconnects: every topology leads every packet to its node by the fewest hops.
#include <gtest/gtest.h>

#include <queue>

#include "messages.hpp"
#include "model/net/routes.hpp"
#include "net_machines.hpp"

namespace tca::test {
namespace {

using namespace net;

struct Vertex {
  bool is_switch;
  std::uint32_t number;
  bool operator==(const Vertex&) const = default;
};

// Returns the hops that a packet takes, or -1 if it gets lost.
int walk(const Routes& routes, std::uint32_t from, std::uint32_t to) {
  Steps steps = routes.steps(from, to);
  Vertex at{false, from};
  int hops = 0;
  while (!done(steps) || at.is_switch) {
    const Routes::Hop hop =
        at.is_switch ? routes.at_switch(at.number, steps) : routes.at_node(at.number, steps);
    const Cable cable = routes.cable(hop.cable);
    if (!cable.used || Vertex{cable.from_switch, cable.from} != at || ++hops > 100) return -1;
    routes.take(hop, steps);
    at = {cable.to_switch, cable.to};
  }
  return at == Vertex{false, to} ? hops : -1;
}

// Returns the fewest hops over the existing cables, or -1.
int fewest(const Routes& routes, std::uint32_t nodes, std::uint32_t from, std::uint32_t to) {
  std::vector<int> distance(nodes + routes.switches(), -1);
  const auto place = [&](bool is_switch, std::uint32_t number) {
    return is_switch ? nodes + number : number;
  };
  std::queue<std::uint32_t> edge;
  distance[from] = 0;
  edge.push(from);
  for (; !edge.empty(); edge.pop()) {
    for (std::uint32_t i = 0; i < routes.cables(); ++i) {
      const Cable cable = routes.cable(i);
      const std::uint32_t a = place(cable.from_switch, cable.from), b = place(cable.to_switch, cable.to);
      if (!cable.used || a != edge.front() || distance[b] >= 0) continue;
      distance[b] = distance[a] + 1;
      edge.push(b);
    }
  }
  return distance[to];
}

TEST(Routes, CountMoreCablesThanFitIn32Bits) {
  const Topology topology{TopologyKind::fat_tree, {16, 1u << 16, 1u << 16}, {}};
  EXPECT_EQ(Routes(topology, topology.nodes()).cables(), (2ull << 20) + (2ull << 32));
}

class RoutesTest : public testing::TestWithParam<std::pair<Topology, std::uint32_t>> {};

TEST_P(RoutesTest, LeadToEveryNodeByTheFewestHops) {
  const auto& [topology, nodes] = GetParam();
  const Routes routes(topology, nodes);
  const std::uint32_t group = topology.nodes();
  for (std::uint32_t from = 0; from < nodes; ++from) {
    for (std::uint32_t to = 0; to < nodes; ++to) {
      if (from / group != to / group) {
        EXPECT_TRUE(
            refuses(Errc::invalid_argument, {"no cables lead"}, [&] { (void)routes.steps(from, to); }));
        continue;
      }
      ASSERT_EQ(walk(routes, from, to), fewest(routes, nodes, from, to)) << from << " to " << to;
      EXPECT_EQ(walk(routes, from, to), static_cast<int>(routes.distance(from, to)));
    }
  }
}

INSTANTIATE_TEST_SUITE_P(Topologies, RoutesTest,
                         testing::Values(std::pair{Topology{TopologyKind::chain, {2}, {}}, 2u},
                                         std::pair{Topology{TopologyKind::chain, {4}, {}}, 8u},
                                         std::pair{Topology{TopologyKind::ring, {2}, {}}, 2u},
                                         std::pair{Topology{TopologyKind::ring, {7}, {}}, 7u},
                                         std::pair{Topology{TopologyKind::double_ring, {8, 2}, {}}, 32u},
                                         std::pair{two_rings(), 64u},
                                         std::pair{Topology{TopologyKind::torus, {5}, {}}, 5u},
                                         std::pair{Topology{TopologyKind::torus, {4, 2}, {}}, 8u},
                                         std::pair{Topology{TopologyKind::torus, {4, 3, 2}, {}}, 24u},
                                         std::pair{Topology{TopologyKind::torus, {1, 6, 1}, {}}, 6u},
                                         std::pair{Topology{TopologyKind::star, {6}, {}}, 12u},
                                         std::pair{Topology{TopologyKind::fat_tree, {4, 3, 2}, {}}, 24u}));

// The distances are those between the ranks of HA-PACS/TCA's sub-cluster.
TEST(TwoRings, HaveTheDistancesOfHaPacs) {
  const Routes routes(two_rings(), 16);
  std::uint32_t farthest = 0;
  for (std::uint32_t rank = 0; rank < 16; ++rank) {
    EXPECT_EQ(routes.distance(rank, rank ^ 1), 1u);
    EXPECT_EQ(routes.distance(rank, rank ^ 2), 1u);
    EXPECT_EQ(routes.distance(rank, rank ^ 4), 2u);
    const std::uint32_t opposite = routes.distance(rank, rank ^ 8);
    EXPECT_TRUE(opposite == 1 || opposite == 3);
    for (std::uint32_t other = 0; other < 16; ++other)
      farthest = std::max(farthest, routes.distance(rank, other));
  }
  EXPECT_EQ(farthest, 5u);
}

// Halfway around a ring, both ways are equally long, and half of the nodes take each.
TEST(Rings, UseBothWaysAlike) {
  const Routes routes({TopologyKind::ring, {8}, {}}, 8);
  int forwards = 0;
  for (std::uint32_t node = 0; node < 8; ++node) forwards += routes.steps(node, (node + 4) % 8)[0] > 0;
  EXPECT_EQ(forwards, 4);
}

}  // namespace
}  // namespace tca::test
