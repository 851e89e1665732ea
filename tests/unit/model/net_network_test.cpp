// Tests packets on links: which goes first, which waits, and that everything arrives.
#include <fmt/format.h>
#include <gtest/gtest.h>

#include "messages.hpp"
#include "model/des/random.hpp"
#include "model/net/network.hpp"
#include "net_machines.hpp"

namespace tca::test {
namespace {

using namespace net;
using des::Time;

class NetworkTest : public testing::Test {
 public:
  void set_up(const Description& machine, Fidelity fidelity = Fidelity::tlp) {
    network.reset();
    simulator = std::make_unique<des::Simulator>();
    network.emplace(*simulator, machine, fidelity);
    ends.clear();
  }

  void put(Transfer transfer, Time at = 0) {
    const auto number = ends.size();
    ends.push_back(0);
    simulator->spawn(run(transfer, at, number), {"put", static_cast<int>(number)});
  }

  double last_us() {
    simulator->run();
    EXPECT_EQ(network->traffic().packets(), 0u);
    return des::to_us(*std::max_element(ends.begin(), ends.end()));
  }

  des::Task run(Transfer transfer, Time at, std::size_t number) {
    co_await simulator->sleep_until(at);
    des::Counter arrived(*simulator, {"an arrival"});
    transfer.arrived = &arrived;
    des::Task task = network->transfer(transfer);
    co_await task;
    co_await arrived.reached(1);
    ends[number] = simulator->now();
  }

  std::unique_ptr<des::Simulator> simulator;
  std::optional<Network> network;
  std::vector<Time> ends;
};

Transfer transfer_of(std::uint32_t from, std::uint32_t to, std::uint64_t bytes) {
  return {.from = {from, 0},
          .to = {to, 0},
          .rows = {bytes},
          .packet_bytes = 256,
          .request_bytes = 512,
          .window = 16};
}

// NVLink connects the GPUs of a box without a NIC, at the rate of a GPU's own link.
TEST_F(NetworkTest, GpusOfABoxSendOverItsSwitch) {
  const auto inside = [](std::uint32_t from, std::uint32_t to, std::uint64_t bytes) {
    return Transfer{.from = {0, from},
                    .to = {0, to},
                    .interconnect = Transfer::inside,
                    .rows = {bytes},
                    .packet_bytes = 256,
                    .window = 4096};
  };
  const Description box = box_machine({TopologyKind::star, {2}, {}}, 2);
  for (const Fidelity fidelity : {Fidelity::tlp, Fidelity::train}) {
    set_up(box, fidelity);
    put(inside(0, 1, 8));
    EXPECT_NEAR(last_us(), 0.5 + 0.15 + 0.1 + 0.15 + 0.1, 0.001);
    set_up(box, fidelity);
    put(inside(0, 1, 16 << 20));
    const double alone = last_us();
    EXPECT_NEAR(16.777216e6 / alone / 1e3, 450 * 256.0 / 288, 12);
    // The switch has room for all transfers at once, a GPU's own link has not.
    set_up(box, fidelity);
    for (std::uint32_t gpu = 0; gpu < 8; ++gpu) put(inside(gpu, (gpu + 3) % 8, 16 << 20));
    EXPECT_NEAR(last_us(), alone, 0.01 * alone);
    set_up(box, fidelity);
    for (std::uint32_t gpu = 1; gpu < 4; ++gpu) put(inside(gpu, 0, 16 << 20));
    EXPECT_NEAR(last_us(), 3 * alone, 0.05 * alone);
  }
}

// Two transfers that need one cable get half of it each, packet by packet.
TEST_F(NetworkTest, InputsShareAnOutput) {
  Description machine = torus_machine(4, 1, 1);
  machine.interconnects[0].topology = {TopologyKind::chain, {4}, {}};
  set_up(machine);
  put(transfer_of(1, 2, 1 << 20));
  const double alone = last_us();
  set_up(machine);
  put(transfer_of(1, 2, 1 << 20));
  put(transfer_of(0, 2, 1 << 20));  // through node 1
  const double both = last_us();
  EXPECT_NEAR(static_cast<double>(ends[0]) / static_cast<double>(ends[1]), 1, 0.05);
  EXPECT_GT(both, 1.2 * alone);
}

TEST_F(NetworkTest, DataInBothDirectionsDoesNotMeet) {
  set_up(torus_machine(4, 1, 1));
  put(transfer_of(1, 2, 1 << 20));
  const double alone = last_us();
  set_up(torus_machine(4, 1, 1));
  put(transfer_of(1, 2, 1 << 20));
  put(transfer_of(2, 1, 1 << 20));
  EXPECT_NEAR(last_us(), alone, 0.05 * alone);
}

// Two streams over one cable, of which one goes on and the other one starts there, and two that only meet at
// their end.
TEST_F(NetworkTest, CollisionsCostWhatTheMachineSaysAtCables) {
  const auto both = [&](std::uint32_t to, Time collision) {
    Description machine = torus_machine(4, 1, 1);
    machine.node.units[1].router.collision = collision;
    set_up(machine);
    put(transfer_of(1, 2, 1 << 20));
    put(transfer_of(to == 2 ? 0 : 3, 2, 1 << 20));
    return last_us();
  };
  EXPECT_GT(both(2, des::from_ns(100)), 1.1 * both(2, 0));
  EXPECT_EQ(both(3, des::from_ns(100)), both(3, 0));
}

TEST_F(NetworkTest, FewCreditsSlowALongCable) {
  const auto with = [&](std::uint32_t credits) {
    Description machine = torus_machine(2, 1, 1);
    machine.links[1].credits = credits;
    machine.links[1].latency = des::from_ns(500);
    set_up(machine);
    put(transfer_of(0, 1, 1 << 20));
    return last_us();
  };
  // A place is taken for two latencies, a hop, and the time that the next link needs.
  EXPECT_NEAR(4096 * (0.5 * 2 + 0.06 + 0.07) / 2, with(2), 0.02 * with(2));
  EXPECT_GT(with(2), 1.9 * with(4));
  EXPECT_NEAR(with(0), with(64), 1);
}

// All-to-all on rings and tori fills every buffer place. No packet may wait for ever.
TEST_F(NetworkTest, FullCirclesDoNotBlock) {
  for (const std::uint32_t credits : {2u, 3u, 4u}) {
    for (const auto& size : {std::array{8u, 1u, 1u}, std::array{5u, 3u, 2u}, std::array{4u, 4u, 4u}}) {
      Description machine = torus_machine(size[0], size[1], size[2]);
      machine.links[0].credits = machine.links[1].credits = credits;
      set_up(machine);
      for (std::uint32_t from = 0; from < machine.nodes; ++from) {
        for (std::uint32_t i = 1; i < 8; ++i)
          put(transfer_of(from, (from + i * machine.nodes / 8) % machine.nodes, 4096));
      }
      EXPECT_GT(last_us(), 0);
    }
  }
}

TEST_F(NetworkTest, EveryLinkIsAccountedFor) {
  for (const Fidelity fidelity : {Fidelity::tlp, Fidelity::train, Fidelity::flow}) {
    set_up(torus_machine(4, 1, 1), fidelity);
    put(transfer_of(0, 1, 1 << 20));
    last_us();
    bool seen = false;
    for (LinkId link = 0; link < network->plan().links(); ++link) {
      const LinkUse use = network->use(link);
      if (use.name != "torus: node 0 to node 1") continue;
      seen = true;
      EXPECT_EQ(use.packets, 4096u) << to_string(fidelity);
      EXPECT_NEAR(des::to_us(use.busy), 4096 * 0.07, 0.1) << to_string(fidelity);
    }
    EXPECT_TRUE(seen);
  }
}

// The picoseconds of 300 MB at 1 MB/s, counted in fractions, exceed 64 bits.
TEST_F(NetworkTest, SlowLinksCountTheirTime) {
  Description machine = torus_machine(2, 1, 1);
  machine.links[1].bytes_per_s = 1e6;
  constexpr std::uint64_t packets = 1'200'000;
  const double us = packets * (256 + 24);  // a byte per microsecond
  for (const Fidelity fidelity : {Fidelity::train, Fidelity::flow}) {
    set_up(machine, fidelity);
    put(transfer_of(0, 1, packets * 256));
    EXPECT_NEAR(last_us() / us, 1, 1e-4) << to_string(fidelity);
    double busy = 0;
    for (LinkId link = 0; link < network->plan().links(); ++link)
      busy = std::max(busy, des::to_us(network->use(link).busy));
    EXPECT_NEAR(busy / us, 1, 1e-4) << to_string(fidelity);
  }
}

// A flow of few requests must not keep a list of all the tags of its NIC.
TEST_F(NetworkTest, APoolOfManyTagsTakesNoMemory) {
  set_up(torus_machine(2, 1, 1), Fidelity::flow);
  des::Semaphore tags(*simulator, {"tags"}, 4'000'000'000);
  Transfer transfer = transfer_of(0, 1, 4096);
  transfer.tags = &tags;
  put(transfer);
  EXPECT_GT(last_us(), 0);
  EXPECT_LT(network->bytes(), std::size_t{1} << 20);
}

// The order in which the ends of a wire are named must not matter.
TEST_F(NetworkTest, WiresHaveNoDirection) {
  const auto crossing = [&](bool turned) {
    Description machine = box_machine({TopologyKind::star, {2}, {}}, 2);
    for (Wire& wire : machine.node.wires)
      if (turned) wire = {wire.b, wire.a, wire.back, wire.there};
    set_up(machine);
    for (std::uint32_t gpu = 0; gpu < 8; ++gpu)
      put({.from = {0, gpu},
           .to = {gpu % 2, (gpu + 3) % 8},
           .interconnect = gpu % 2 == 0 ? Transfer::inside : 0,
           .rows = {50'000},
           .packet_bytes = 256,
           .window = 64});
    last_us();
    return simulator->hash();
  };
  EXPECT_EQ(crossing(true), crossing(false));
}

TEST_F(NetworkTest, RefusesWhatCannotBe) {
  set_up(peach_machine({TopologyKind::chain, {2}, {}}, 4));
  const auto fails = [&](const Transfer& transfer, std::initializer_list<std::string_view> says) {
    put(transfer);
    EXPECT_TRUE(refuses(Errc::invalid_argument, says, [&] { simulator->run(); }));
  };
  Transfer transfer = transfer_of(0, 1, 64);
  transfer.to = {2, 0};
  fails(transfer, {"no cables lead from node 0 to node 2", "chain joins 2 nodes"});
  transfer.to = {9, 0};
  fails(transfer, {"no node 9", "has 4"});
  transfer.to = {1, 70};
  fails(transfer, {"no unit 70"});
  transfer.to = {1, 0};
  transfer.from.unit = 4;
  fails(transfer, {"does not come from a memory"});
  fails(transfer_of(0, 1, 0), {"nothing to send"});
}

// Runs random puts on a small torus. Every queue and every compiler must give the same events.
std::string hash_of_talk(Fidelity fidelity, des::QueueKind queue) {
  struct Program {
    static des::Task talk(Network& network, std::uint32_t node) {
      des::Random random(5, node);
      for (int i = 0; i < 20; ++i) {
        const auto to = static_cast<std::uint32_t>(random.below(27));
        const std::uint64_t bytes = 1 + random.below(5000);
        des::Task task = network.transfer(transfer_of(node, to, bytes));
        co_await task;
      }
    }
  };
  des::Simulator simulator({.queue = queue});
  Network network(simulator, torus_machine(3, 3, 3), fidelity);
  for (std::uint32_t node = 0; node < 27; ++node)
    simulator.spawn(Program::talk(network, node), {"node", node});
  simulator.run();
  return fmt::format("{:016x}", simulator.hash());
}

TEST(NetworkHash, IsTheSameEverywhere) {
  for (const des::QueueKind queue : {des::QueueKind::wheel, des::QueueKind::heap}) {
    EXPECT_EQ(hash_of_talk(Fidelity::tlp, queue), "1bdf87cecf3b559a");
    EXPECT_EQ(hash_of_talk(Fidelity::train, queue), "4fb7975497d9368b");
    EXPECT_EQ(hash_of_talk(Fidelity::flow, queue), "cfdae9f5d70e6ec3");
  }
}

}  // namespace
}  // namespace tca::test
