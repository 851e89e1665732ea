// Tests PEACH2's DMA controller: the end-to-end times of transfers, flags, channels and chains, and that the
// fidelities agree.
#include <fmt/format.h>
#include <gtest/gtest.h>

#include <deque>

#include "messages.hpp"
#include "model/nic/peach.hpp"
#include "net_machines.hpp"
#include "seed.hpp"

namespace tca::test {
namespace {

using namespace net;
using des::Time;

struct Machine {
  des::Simulator simulator;
  Network network;
  Peach peach;

  explicit Machine(const Description& description, Fidelity fidelity = Fidelity::tlp,
                   des::QueueKind queue = des::QueueKind::wheel)
      : simulator({.queue = queue}),
        network(simulator, description, fidelity),
        peach(network, 0, find_unit(description.node, "host")) {}

  static des::Task play(Machine& machine, std::uint32_t own, const DmaChain& chain, des::Counter& mine,
                        int turns, bool serves) {
    for (std::uint64_t turn = 1; turn <= static_cast<std::uint64_t>(turns); ++turn) {
      if (!serves) co_await mine.reached(turn);
      machine.peach.start(own, 0, chain);
      if (serves) co_await mine.reached(turn);
    }
  }

  // Returns the one-way time in microseconds, measured by a ping-pong.
  double ping_pong(std::uint32_t other, Rows rows, const char* unit = "gpu0") {
    constexpr int turns = 4;
    des::Counter at0(simulator, {"the answer"}), at1(simulator, {"the question"});
    const Endpoint a = network.endpoint(0, unit), b = network.endpoint(other, unit);
    const DmaChain there{{{a, b, rows, &at1}}}, back{{{b, a, rows, &at0}}};
    simulator.spawn(play(*this, 0, there, at0, turns, true), {"rank", 0});
    simulator.spawn(play(*this, other, back, at1, turns, false), {"rank", other});
    const Time begin = simulator.now();
    simulator.run();
    return des::to_us(simulator.now() - begin) / (2 * turns);
  }

  // Notes the time at which `count` flags have arrived.
  static des::Task note(des::Counter& flags, des::Simulator& simulator, Time& at, std::uint64_t count = 1) {
    co_await flags.reached(count);
    at = simulator.now();
  }

  // Returns the time from the start of a chain until all its flags have arrived.
  double time_of(DmaChain chain, std::uint32_t channel = 0) {
    des::Counter arrived(simulator, {"flags"});
    for (Descriptor& descriptor : chain.descriptors) descriptor.arrived = &arrived;
    const Time begin = simulator.now();
    peach.start(chain.descriptors[0].from.node, channel, chain);
    simulator.run();
    EXPECT_EQ(arrived.value(), chain.descriptors.size());
    return des::to_us(simulator.now() - begin);
  }
};

Description two_nodes() { return peach_machine({TopologyKind::chain, {2}, {}}, 2); }

double one_way(const Description& machine, std::uint32_t other, Rows rows, const char* unit = "gpu0") {
  return Machine(machine).ping_pong(other, rows, unit);
}

TEST(Peach, ASmallPutTakesTheSumOfItsWay) {
  // The terms:
  // - doorbell: two link latencies and a hop
  // - DMA: start, fetch, decode
  // - request: gap, two latencies, a hop; answer: memory, two latencies, a hop
  // - turn; cable, hop, two latencies, a hop, memory
  //
  // The flag follows after the notify time and a hop, and takes its own way into the host. Packets of 8 bytes
  // take 8 ns on a link.
  const double doorbell = 0.12 * 2 + 0.05;
  const double dma = 0.1 + 0.03 + 0.04;
  const double read = 0.012 + 0.12 * 2 + 0.05 + 0.1 + 0.5 + 0.12 * 2 + 0.05;
  const double flag = 0.02 + 0.1 + 0.15 + 0.1 + 0.12 * 2 + 0.05 + 0.06;
  EXPECT_NEAR(one_way(two_nodes(), 1, {8}), doorbell + dma + read + flag, 0.05);
}

TEST(Peach, LargePutsRunAtTheSlowestRate) {
  const double small = one_way(two_nodes(), 1, {64 << 10}), large = one_way(two_nodes(), 1, {4 << 20});
  EXPECT_NEAR((4e6 * 1.048576 - 65536) / (large - small), 2800, 28);  // the GPU's 2.8 GB/s
  const double far_small = one_way(two_nodes(), 1, {64 << 10}, "gpu2"),
               far_large = one_way(two_nodes(), 1, {1 << 20}, "gpu2");
  EXPECT_NEAR((1048576 - 65536) / (far_large - far_small), 290 * 256.0 / 280, 5);  // QPI's, less the headers
}

TEST(Peach, EveryHopCostsTheSame) {
  const Description machine = peach_machine({TopologyKind::chain, {4}, {}}, 4);
  const double first = one_way(machine, 1, {8}), second = one_way(machine, 2, {8}),
               third = one_way(machine, 3, {8});
  EXPECT_NEAR(second - first, 0.25, 0.002);  // 150 ns of cable and 100 ns of router
  EXPECT_NEAR(third - second, 0.25, 0.002);
}

TEST(Peach, HostMemoryIsReadFasterThanAGpu) {
  EXPECT_NEAR(one_way(two_nodes(), 1, {8}, "gpu0") - one_way(two_nodes(), 1, {8}, "host"), 0.3, 0.01);
}

TEST(Peach, AChainIsQuickerThanItsParts) {
  const DmaChain one{{{{0, 1}, {1, 1}, {64}}}};
  DmaChain eight;
  for (int i = 0; i < 8; ++i) eight.descriptors.push_back(one.descriptors[0]);
  const double alone = Machine(two_nodes()).time_of(one), together = Machine(two_nodes()).time_of(eight);
  EXPECT_NEAR(together - alone, 7 * (0.03 + 0.04 + 0.02), 0.06);
}

TEST(Peach, RowsCostTheirGaps) {
  Machine rows(two_nodes()), block(two_nodes());
  const double a = rows.time_of({{{{0, 1}, {1, 1}, {32, 64}}}}),
               b = block.time_of({{{{0, 1}, {1, 1}, {2048, 1}}}});
  // Each row is a separate request, and there are 16 tags for them.
  EXPECT_GT(a, b + 64 * 0.04);
  EXPECT_LT(a, b + 64 * 0.07);
}

TEST(Peach, ChannelsShareTheNic) {
  const DmaChain chain{{{{0, 1}, {1, 1}, {1 << 20}}}};
  const double one = Machine(two_nodes()).time_of(chain);
  Machine machine(two_nodes());
  for (std::uint32_t channel = 0; channel < 4; ++channel) machine.peach.start(0, channel, chain);
  machine.simulator.run();
  EXPECT_NEAR(des::to_us(machine.simulator.now()) / one, 4, 0.05);
}

TEST(Peach, TheSenderIsToldWhenItsDataHasLeft) {
  Machine machine(two_nodes());
  des::Counter sent(machine.simulator, {"sent"}), arrived(machine.simulator, {"arrived"});
  Time sent_at = 0, arrived_at = 0;
  machine.simulator.spawn(Machine::note(sent, machine.simulator, sent_at), {"sender"});
  machine.simulator.spawn(Machine::note(arrived, machine.simulator, arrived_at), {"receiver"});
  const DmaChain chain{{{{0, 1}, {1, 1}, {4096}, &arrived, &sent}}};
  machine.peach.start(0, 0, chain);
  machine.simulator.run();
  // 0.25 us for the cable and a router; the flags wait for the data.
  EXPECT_NEAR(des::to_us(arrived_at - sent_at), 0.25 + 0.04, 0.03);
}

TEST(Peach, StoresArriveWithoutTheDmaController) {
  Machine machine(two_nodes());
  des::Counter arrived(machine.simulator, {"arrived"});
  machine.peach.store(0, machine.network.endpoint(1, "gpu0"), 8, &arrived);
  machine.simulator.run();
  EXPECT_EQ(arrived.value(), 1u);
  EXPECT_NEAR(des::to_us(machine.simulator.now()), 4 * 0.12 + 2 * 0.05 + 2 * 0.1 + 0.15 + 0.1, 0.05);
}

TEST(Peach, RefusesWhatItHasNot) {
  Machine machine(two_nodes());
  const DmaChain chain{{{{0, 1}, {1, 1}, {64}}}};
  EXPECT_TRUE(
      refuses(Errc::invalid_argument, {"channel 4", "0 to 3"}, [&] { machine.peach.start(0, 4, chain); }));
  Description torus = torus_machine(2, 2, 2);
  des::Simulator simulator;
  Network network(simulator, torus);
  EXPECT_TRUE(
      refuses(Errc::invalid_argument, {"'nic'", "no DMA controller"}, [&] { Peach peach(network, 0, 0); }));
}

// Chains that start at given times on given channels.
struct Load {
  std::deque<DmaChain> chains;
  struct Start {
    std::uint32_t node, channel;
    Time at;
  };
  std::vector<Start> starts;

  void add(Start start, std::vector<Descriptor> descriptors) {
    chains.push_back({std::move(descriptors)});
    starts.push_back(start);
  }

  static des::Task start(Machine& machine, Start start, const DmaChain& chain) {
    co_await machine.simulator.sleep_until(start.at);
    machine.peach.start(start.node, start.channel, chain);
  }

  // Runs the load. Returns when the last flag has arrived.
  Time run(Machine& machine) {
    des::Counter flags(machine.simulator, {"flags"});
    std::uint64_t count = 0;
    for (std::size_t i = 0; i < chains.size(); ++i) {
      for (Descriptor& descriptor : chains[i].descriptors) {
        descriptor.arrived = descriptor.sent = &flags;
        count += 2;
      }
      machine.simulator.spawn(start(machine, starts[i], chains[i]), {"host", starts[i].node});
    }
    Time at = 0;
    machine.simulator.spawn(Machine::note(flags, machine.simulator, at, count), {"the last flag"});
    machine.simulator.run();
    EXPECT_EQ(flags.value(), count);
    EXPECT_EQ(machine.network.traffic().packets(), 0u);
    return at;
  }
};

// Returns a load of random puts between the first `units` units of the nodes.
Load random_load(std::mt19937& random, std::uint32_t nodes, std::uint32_t units) {
  Load load;
  for (std::uint32_t node = 0; node < nodes; ++node) {
    for (std::uint32_t i = random_in(random, 0, 3); i > 0; --i) {
      std::vector<Descriptor> puts;
      for (std::uint32_t j = random_in(random, 1, 4); j > 0; --j) {
        const Rows rows{random_in(random, 1, 1u << random_in(random, 3, 14)), random_in(random, 1, 5)};
        puts.push_back({{node, random_in(random, 0, units - 1)},
                        {random_in(random, 0, nodes - 1), random_in(random, 0, units - 1)},
                        rows});
      }
      load.add({node, random_in(random, 0, 3), Time{random_in(random, 0, 20'000)} * des::nanosecond},
               std::move(puts));
    }
  }
  return load;
}

// Data that was requested first comes last when its memory is slow. So a train must not wait for all that its
// NIC has requested before.
TEST(Peach, DataDoesNotQueueBehindThatOfASlowerMemory) {
  Time at[2] = {};
  for (const Fidelity fidelity : {Fidelity::tlp, Fidelity::train}) {
    Machine machine(two_nodes(), fidelity);
    des::Counter slow(machine.simulator, {"data from behind QPI"}), fast(machine.simulator, {"other data"});
    const DmaChain first{{{{0, 3}, {1, 1}, {4096}, &slow}}}, second{{{{0, 1}, {1, 2}, {1024}, &fast}}};
    machine.peach.start(0, 0, first);
    machine.simulator.spawn(Load::start(machine, {0, 1, des::microsecond}, second), {"host", 0});
    machine.simulator.spawn(Machine::note(fast, machine.simulator, at[fidelity == Fidelity::train]),
                            {"host", 1});
    machine.simulator.run();
  }
  EXPECT_EQ(at[0], at[1]);
}

// The state in which trains are demoted decides who is served next: a packet that waited for a tag or for
// room, or one that came later. Behind QPI, each place in a queue is worth a microsecond.
TEST(Peach, TrainsFallApartIntoWhatPacketsWouldBe) {
  enum : std::uint32_t { host, gpu0, gpu1, gpu2 };  // gpu2 is behind QPI
  std::vector<Load> loads(5);
  // A packet that waits for a tag gets it before one that asks later.
  loads[0].add({1, 0, 4206'000}, {{{1, gpu1}, {9, gpu0}, {1, 2}}, {{1, gpu1}, {5, gpu2}, {1285}}});
  loads[0].add({1, 3, 3381'000}, {{{1, gpu0}, {9, gpu2}, {3855, 3}}});
  loads[0].add({3, 1, 8077'000}, {{{3, gpu0}, {11, gpu0}, {571}}});
  // Data that waits for room lets other data pass.
  loads[1].add({11, 1, 4888'000}, {{{11, host}, {13, gpu1}, {13824, 3}}, {{11, host}, {7, host}, {1}}});
  loads[1].add({11, 0, 10498'000}, {{{11, host}, {9, gpu1}, {1792}}, {{11, gpu1}, {8, host}, {1, 4}}});
  loads[1].add({15, 1, 6097'000}, {{{15, host}, {1, host}, {7680, 5}}});
  // The places that a train held become free in the order in which they were taken.
  loads[2].add({0, 1, 5001'000}, {{{0, gpu1}, {5, host}, {1}}, {{0, gpu0}, {2, gpu2}, {1, 4}}});
  loads[2].add({0, 3, 7742'000}, {{{0, gpu1}, {14, host}, {1, 5}}});
  loads[2].add({11, 2, 9235'000}, {{{11, host}, {0, gpu2}, {5885, 2}}, {{11, gpu1}, {5, gpu0}, {1, 4}}});
  loads[2].add({11, 3, 5021'000}, {{{11, gpu0}, {0, gpu2}, {3702}}});
  loads[2].add({15, 0, 9793'000}, {{{15, gpu1}, {3, host}, {1}}, {{15, gpu0}, {0, host}, {2286, 5}}});
  // A flag behind one train is on the link when the next train would be.
  loads[3].add({1, 1, 2704'000}, {{{1, gpu0}, {11, gpu2}, {1954, 5}}});
  loads[3].add({8, 3, 242'000}, {{{8, host}, {0, gpu0}, {183, 5}}, {{8, host}, {1, host}, {883, 4}}});
  loads[3].add({11, 2, 7274'000}, {{{11, gpu2}, {13, host}, {1}}});
  // Tags become free as data arrives, whatever the order of the requests.
  loads[4].add({1, 3, 2647'000}, {{{1, host}, {4, gpu1}, {5884, 2}}});
  loads[4].add({1, 1, 202'000}, {{{1, gpu2}, {13, gpu2}, {1145, 4}}, {{1, gpu1}, {14, gpu1}, {1, 5}}});
  loads[4].add({3, 3, 3594'000}, {{{3, host}, {6, gpu0}, {5632, 4}}});
  loads[4].add({12, 2, 10304'000}, {{{12, gpu0}, {6, gpu2}, {2048}}});
  const Description description = peach_machine(two_rings(), 16);
  for (std::size_t i = 0; i < loads.size(); ++i) {
    Machine packets(description, Fidelity::tlp), trains(description, Fidelity::train);
    EXPECT_EQ(loads[i].run(trains), loads[i].run(packets)) << i;
    EXPECT_GT(trains.network.trains()->demoted(), 0u) << i;
  }
}

// The second chain starts at the very picosecond at which the first one sends its last request, which had to
// wait for a tag. No tag is kept for further requests: once all are free again, the next transfer is a train.
TEST(Peach, ATrainThatFallsApartAtItsLastRequestKeepsNoTag) {
  Description description = peach_machine(two_rings(), 16);
  for (UnitKind& unit : description.node.units) {
    if (unit.dma) unit.dma->row_gap = 0;
  }
  Load load;
  load.add({4, 0, 8229'000}, {{{4, 0}, {3, 1}, {17 * 512}}});
  load.add({4, 2, 9191'000}, {{{4, 0}, {15, 3}, {512}}});
  load.add({4, 0, 100'000'000}, {{{4, 0}, {3, 1}, {65536}}});
  Machine machine(description, Fidelity::train);
  load.run(machine);
  EXPECT_EQ(machine.network.trains()->started(), 2u);
}

// Four packets that wait for QPI hold four places of the link before it, however late they leave. The other
// places are free.
TEST(Peach, DataPassesThatOfASlowerMemory) {
  const auto time_of = [](bool both) {
    Load load;
    load.add({4, 3, 5928'000}, {{{4, 0}, {5, 2}, {3415}}});
    if (both) load.add({2, 2, 3120'000}, {{{2, 1}, {5, 3}, {448, 2}}});
    Machine machine(peach_machine(two_rings(), 16));
    return load.run(machine);
  };
  EXPECT_EQ(time_of(true), time_of(false));
}

// How much later crowds end than by packets, in percent.
struct Apart {
  double sum = 0, soonest = 0, latest = 0;
  int crowds = 0;

  void add(Time time, Time by_packets) {
    const double apart = 100 * (static_cast<double>(time) / static_cast<double>(by_packets) - 1);
    sum += apart;
    soonest = std::min(soonest, apart);
    latest = std::max(latest, apart);
    ++crowds;
  }
  double average() const { return sum / crowds; }
  void print(const char* what) const {
    fmt::print("{} against packets: {:+.3f} % on average, {:+.3f} to {:+.3f} %\n", what, average(), soonest,
               latest);
  }
};

// The first rounds use fast memories only, the others also GPUs behind QPI.
TEST(Peach, RandomChainsEndAtEveryFidelity) {
  const Seed seed;
  std::mt19937 random(seed.value());
  const Description description = peach_machine(two_rings(), 16);
  Apart trains[2], flows;
  for (int round = 0; round < 90 && !testing::Test::HasFailure(); ++round) {
    const bool slow = round >= 60;
    const Load load = random_load(random, 16, slow ? 4 : 3);
    const auto run = [&](Fidelity fidelity) {
      Machine machine(description, fidelity), again(description, fidelity, des::QueueKind::heap);
      const Time time = Load(load).run(machine);
      Load(load).run(again);
      EXPECT_EQ(machine.simulator.hash(), again.simulator.hash()) << seed.how_to_repeat();
      return time;
    };
    const Time tlp = run(Fidelity::tlp);
    trains[slow ? 1 : 0].add(run(Fidelity::train), tlp);
    if (!slow) flows.add(run(Fidelity::flow), tlp);
  }
  trains[0].print("trains");
  trains[1].print("trains, also behind QPI,");
  flows.print("flows");
  // In a crowd, the order of arrival decides. docs/model.md says how far the fidelities differed over many
  // seeds.
  EXPECT_LT(std::abs(trains[0].average()), 0.1) << seed.how_to_repeat();
  EXPECT_LT(std::max(-trains[0].soonest, trains[0].latest), 3) << seed.how_to_repeat();
  EXPECT_LT(std::abs(trains[1].average()), 0.2) << seed.how_to_repeat();
  EXPECT_LT(std::max(-trains[1].soonest, trains[1].latest), 4) << seed.how_to_repeat();
  EXPECT_LT(std::abs(flows.average()), 5) << seed.how_to_repeat();
  EXPECT_GT(flows.soonest, -45) << seed.how_to_repeat();
  EXPECT_LT(flows.latest, 40) << seed.how_to_repeat();
}

}  // namespace
}  // namespace tca::test
