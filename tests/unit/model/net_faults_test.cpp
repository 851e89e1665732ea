// Tests what fails on a network: the ways round it, what is lost, and how the news of it spread.
#include <gtest/gtest.h>

#include <algorithm>
#include <map>
#include <set>

#include "messages.hpp"
#include "model/net/faults/watch.hpp"
#include "net_machines.hpp"

namespace tca::test {
namespace {

using namespace net;

TEST(Faults, AreReadAsTheyAreWritten) {
  const std::vector<Fault> faults = read_faults("cable:7-3@20us,hub:3@0.5ms,host:0@1500ns", "--fault");

  ASSERT_EQ(faults.size(), 3u);
  EXPECT_EQ(describe(faults[0]), "cable 3-7, which failed at 20.000 us");
  EXPECT_EQ(describe(faults[1]), "hub 3, which failed at 500.000 us");
  EXPECT_EQ(describe(faults[2]), "host 0, which failed at 1.500 us");
  for (const char* wrong : {"cable:1@2us", "cable:1-1@2us", "hub:@2us", "hub:1@2", "hub:1@-2us", "wire:1@2us",
                            "hub:1@1e30s", "hub:x@1us", "@", ":"}) {
    EXPECT_TRUE(refuses(Errc::invalid_argument, {"--fault: '", "is no fault; write"}, [&] {
      read_faults(wrong, "--fault");
    })) << wrong;
  }
}

Trunk trunk_of(const Topology& topology, std::uint32_t nodes) {
  return {Routes(topology, nodes), 0, 0, 0, 0, 0};
}

// Returns the nodes through which a packet goes.
std::vector<std::uint32_t> walk(Detours& detours, const Routes& routes, std::uint32_t from, std::uint32_t to,
                                View view) {
  std::vector<std::uint32_t> nodes{from};
  const auto found = detours.way(from, to, view);
  if (!found) return {};
  for (Steps steps = found->steps; !done(steps);) {
    const Routes::Hop hop = found->goes_round ? detours.next(steps) : routes.at_node(nodes.back(), steps);
    EXPECT_EQ(routes.cable(hop.cable).from, nodes.back());
    routes.take(hop, steps);
    nodes.push_back(routes.cable(hop.cable).to);
  }
  return nodes;
}

TEST(Faults, EveryPairIsLedRoundThem) {
  const Topology torus{TopologyKind::torus, {4, 2, 2}, {}};
  for (const auto& [topology, text] :
       {std::pair(two_rings(), "cable:0-1@1us,hub:9@2us"), std::pair(torus, "hub:5@1us,cable:0-3@2us")}) {
    const Trunk trunk = trunk_of(topology, 16);
    Detours detours(trunk, 16, read_faults(text, "a test"), "a test");
    const std::uint32_t dead = text[0] == 'h' ? 5 : 9;
    std::set<std::uint32_t> gone;
    for (const std::size_t fault : {0u, 1u})
      gone.insert(detours.cables_of(fault).begin(), detours.cables_of(fault).end());
    for (std::uint32_t from = 0; from < 16; ++from) {
      for (std::uint32_t to = 0; to < 16; ++to) {
        const std::vector<std::uint32_t> nodes = walk(detours, trunk.routes, from, to, 3);
        if (from == dead || to == dead) {
          EXPECT_TRUE(nodes.empty());
          continue;
        }
        ASSERT_FALSE(nodes.empty()) << from << " to " << to;
        EXPECT_EQ(nodes.back(), to);
        EXPECT_EQ(std::ranges::count(nodes, dead), 0) << from << " to " << to;
        for (std::size_t i = 1; i < nodes.size(); ++i) {
          const auto crosses = [&](std::uint32_t cable) {
            return trunk.routes.cable(cable).from == nodes[i - 1] && trunk.routes.cable(cable).to == nodes[i];
          };
          EXPECT_TRUE(std::ranges::none_of(gone, crosses));
        }
      }
    }
    EXPECT_EQ(detours.reached(0, 3).size(), 15u);
  }
}

struct Heard final : Told, Losses {
  explicit Heard(des::Simulator& own) : simulator(own) {}
  void failed(std::size_t) override {}
  void told(std::uint32_t node, std::size_t fault) override { when[{fault, node}] = simulator.now(); }
  void lost(const des::Counter& counter, std::size_t) override { counters.insert(&counter); }
  des::Simulator& simulator;
  std::map<std::pair<std::size_t, std::uint32_t>, des::Time> when;
  std::set<const des::Counter*> counters;
};

const WatchKind watch_kind{.heartbeat = 10 * des::microsecond,
                           .silence = 50 * des::microsecond,
                           .host_heartbeat = 100 * des::microsecond,
                           .host_silence = 500 * des::microsecond,
                           .handle = des::microsecond,
                           .news_bytes = 8};

class WatchTest : public testing::Test {
 public:
  // A ring of eight.
  void set_up(const std::string& faults) {
    const Description machine = peach_machine({TopologyKind::ring, {8}, {}}, 8);
    network.emplace(simulator, machine);
    network->expect_faults(0, read_faults(faults, "a test"), "a test", heard);
    watch.emplace(*network, watch_kind, 0, find_unit(machine.node, "host"), heard);
  }
  des::Simulator simulator;
  Heard heard{simulator};
  std::optional<Network> network;
  std::optional<Watch> watch;
};

TEST_F(WatchTest, NewsGoRoundTheRingFromBothEndsOfACable) {
  set_up("cable:0-1@25us");
  simulator.run();

  EXPECT_EQ(heard.when.size(), 8u);
  // The last heartbeat that came was sent at 20 us.
  EXPECT_NEAR(des::to_us(watch->first_notice(0).at), 70, 1);
  for (const std::uint32_t hop : {0u, 1u, 2u}) {
    EXPECT_LT((heard.when[{0, (8 - hop) % 8}]), (heard.when[{0, 7 - hop}]));
    EXPECT_LT((heard.when[{0, 1 + hop}]), (heard.when[{0, 2 + hop}]));
  }
}

TEST_F(WatchTest, HostsAreWatchedByTheirHubs) {
  set_up("host:3@250us");
  simulator.run();

  EXPECT_EQ(watch->first_notice(0).node, 3u);
  EXPECT_EQ(watch->first_notice(0).at, 700 * des::microsecond);
  EXPECT_EQ(heard.when.size(), 7u);
  EXPECT_FALSE((heard.when.contains({0, 3})));
}

TEST_F(WatchTest, TheHalvesOfARingLearnOfBothCuts) {
  set_up("cable:0-1@25us,cable:4-5@26us");
  simulator.run();

  EXPECT_EQ(heard.when.size(), 16u);
  EXPECT_EQ(network->damage()->detours.reached(2, network->view(2)),
            (std::vector<std::uint32_t>{1, 2, 3, 4}));
  EXPECT_EQ(network->damage()->detours.reached(0, network->view(0)),
            (std::vector<std::uint32_t>{0, 5, 6, 7}));
}

// Two streams meet at node 0; what waits for the cable holds the other one up until it is discarded.
TEST_F(WatchTest, WhatIsLostIsSaidAndWhatIsNotGoesOn) {
  set_up("cable:0-1@1us");
  des::Counter lost(simulator, {"over the cable"}), arrived(simulator, {"the other way"}),
      round(simulator, {"round"});
  const auto send = [&](std::uint32_t to, des::Counter& counter, des::Time at) -> des::Task {
    co_await simulator.sleep_until(at);
    network->send({.from = {0, 0}, .to = {to, 0}, .interconnect = 0, .bytes = 8, .arrived = &counter});
  };
  for (int i = 0; i < 100; ++i) simulator.spawn(send(1, lost, 2 * des::microsecond), {"a word"});
  simulator.spawn(send(7, arrived, 3 * des::microsecond), {"a word"});
  simulator.spawn(send(1, round, 200 * des::microsecond), {"a word"});
  simulator.run();

  EXPECT_EQ(lost.value(), 0u);
  EXPECT_TRUE(heard.counters.contains(&lost));  // and what each end of the cable told the other
  EXPECT_FALSE(heard.counters.contains(&arrived));
  EXPECT_FALSE(heard.counters.contains(&round));
  EXPECT_EQ(arrived.value(), 1u);
  EXPECT_EQ(round.value(), 1u);
  EXPECT_EQ(network->traffic().packets(), 0u);
}

}  // namespace
}  // namespace tca::test
