// Compares trains with single packets on every topology and pattern: how far their times differ, and how many
// events they save.
#include <fmt/format.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <deque>
#include <memory>

#include "model/des/random.hpp"
#include "model/net/network.hpp"
#include "net_machines.hpp"

namespace tca::test {
namespace {

using namespace net;
using des::Time;

// A transfer of one node. It begins at `begin`, but not before the arrival of put number `after`, if that is
// given.
struct Put {
  std::uint32_t from, to;
  Rows rows;
  Time begin = 0;
  int after = -1;
};
using Pattern = std::vector<Put>;

struct Outcome {
  std::vector<Time> arrivals;  // arrival of each put
  std::uint64_t events;
  std::uint64_t trains, demoted;
  Time last() const { return *std::max_element(arrivals.begin(), arrivals.end()); }
};

class Experiment {
 public:
  Experiment(const Description& machine, Fidelity fidelity) : network_(simulator_, machine, fidelity) {
    for (std::uint32_t node = 0; node < machine.nodes; ++node) {
      tags_.push_back(std::make_unique<des::Semaphore>(simulator_, des::Label{"tags", node}, 16));
    }
  }

  // Runs a pattern. The puts of one node share the tags of its NIC.
  Outcome operator()(const Pattern& pattern) {
    arrivals_.resize(pattern.size());
    for (const Put& put : pattern) arrived_.emplace_back(simulator_, des::Label{"an arrival from", put.from});
    for (std::size_t i = 0; i < pattern.size(); ++i)
      simulator_.spawn(put(pattern[i], i), {"put", static_cast<int>(i)});
    simulator_.run();
    const Trains* trains = network_.trains();
    EXPECT_EQ(network_.traffic().packets(), 0u);
    return {arrivals_, simulator_.events(), trains == nullptr ? 0 : trains->started(),
            trains == nullptr ? 0 : trains->demoted()};
  }

 private:
  des::Task put(Put put, std::size_t number) {
    co_await simulator_.sleep_until(put.begin);
    if (put.after >= 0) co_await arrived_[static_cast<std::size_t>(put.after)].reached(1);
    const char* unit = network_.machine().name == "torus" ? "gpu" : "gpu0";
    des::Task transfer = network_.transfer({.from = network_.endpoint(put.from, unit),
                                            .to = network_.endpoint(put.to, unit),
                                            .rows = put.rows,
                                            .packet_bytes = 256,
                                            .request_bytes = 512,
                                            .request_gap = des::from_ns(12),
                                            .row_gap = des::from_ns(8),
                                            .tags = tags_[put.from].get(),
                                            .arrived = &arrived_[number]});
    co_await transfer;
    co_await arrived_[number].reached(1);
    arrivals_[number] = simulator_.now();
  }

  des::Simulator simulator_;
  Network network_;
  std::vector<std::unique_ptr<des::Semaphore>> tags_;
  std::deque<des::Counter> arrived_;
  std::vector<Time> arrivals_;
};

Pattern one(std::uint32_t nodes, Rows rows) { return {{0, nodes / 2, rows}}; }
Pattern exchange(std::uint32_t nodes, Rows rows) { return {{0, nodes - 1, rows}, {nodes - 1, 0, rows}}; }
Pattern shift(std::uint32_t nodes, Rows rows) {
  Pattern pattern;
  for (std::uint32_t i = 0; i < nodes; ++i) pattern.push_back({i, (i + 1) % nodes, rows});
  return pattern;
}
Pattern pairs(std::uint32_t nodes, Rows rows) {
  Pattern pattern;
  for (std::uint32_t i = 0; i < nodes; ++i) {
    pattern.push_back({i, i ^ 1u, rows});
  }
  return pattern;
}
Pattern hot_spot(std::uint32_t nodes, Rows rows) {
  Pattern pattern;
  for (std::uint32_t i = 1; i < nodes; ++i) pattern.push_back({i, 0, rows});
  return pattern;
}
Pattern scatter(std::uint32_t nodes, Rows rows) {
  Pattern pattern;
  for (std::uint32_t i = 1; i < nodes; ++i) pattern.push_back({0, i, rows});
  return pattern;
}
Pattern random_puts(std::uint32_t nodes, Rows rows) {
  des::Random random(3, 0);
  Pattern pattern;
  for (std::uint32_t i = 0; i < nodes; ++i) {
    const auto to = static_cast<std::uint32_t>((i + 1 + random.below(nodes - 1)) % nodes);
    pattern.push_back({i, to, rows, static_cast<Time>(random.below(3 * des::microsecond))});
  }
  return pattern;
}

// Half as many walkers as nodes. Each of them goes on from where it has arrived.
Pattern random_walks(std::uint32_t nodes, Rows rows) {
  constexpr int steps = 6;
  Pattern pattern;
  for (std::uint32_t walker = 0; walker < (nodes + 1) / 2; ++walker) {
    des::Random random(5, walker);
    std::uint32_t at = 2 * walker;
    for (int step = 0; step < steps; ++step) {
      const auto to = static_cast<std::uint32_t>((at + 1 + random.below(nodes - 1)) % nodes);
      const int before = static_cast<int>(pattern.size()) - 1;
      pattern.push_back(
          {at, to, rows, static_cast<Time>(random.below(des::microsecond)), step == 0 ? -1 : before});
      at = to;
    }
  }
  return pattern;
}
// A binomial tree from node 0.
Pattern broadcast(std::uint32_t nodes, Rows rows) {
  Pattern pattern;
  std::vector<int> put_to(nodes, -1);
  for (std::uint32_t span = nodes; span > 1; span /= 2)
    for (std::uint32_t from = 0; from + span / 2 < nodes; from += span) {
      pattern.push_back({from, from + span / 2, rows, 0, put_to[from]});
      put_to[from + span / 2] = static_cast<int>(pattern.size()) - 1;
    }
  return pattern;
}
// All nodes at once send from a memory through their own NIC back into the node. The variant below also sends
// to the next node meanwhile.
Pattern loop_back(std::uint32_t nodes, Rows rows) {
  Pattern pattern;
  for (std::uint32_t i = 0; i < nodes; ++i) pattern.push_back({i, i, rows});
  return pattern;
}
Pattern loop_back_and_on(std::uint32_t nodes, Rows rows) {
  Pattern pattern = loop_back(nodes, rows);
  for (const Put& put : shift(nodes, rows)) pattern.push_back(put);
  return pattern;
}

struct Case {
  const char* name;
  Pattern (*pattern)(std::uint32_t, Rows);
};
const Case patterns[]{{"one", one},
                      {"exchange", exchange},
                      {"shift", shift},
                      {"pairs", pairs},
                      {"hot spot", hot_spot},
                      {"scatter", scatter},
                      {"random", random_puts},
                      {"walks", random_walks},
                      {"broadcast", broadcast},
                      {"loop-back", loop_back},
                      {"loop+on", loop_back_and_on}};

struct Place {
  const char* name;
  Description machine;
};

std::vector<Place> places() {
  return {{"chain of 2", peach_machine({TopologyKind::chain, {2}, {}}, 2)},
          {"chain of 4", peach_machine({TopologyKind::chain, {4}, {}}, 4)},
          {"ring of 8", peach_machine({TopologyKind::ring, {8}, {}}, 8)},
          {"two rings of 8", peach_machine(two_rings(), 16)},
          {"torus 4x4x4", torus_machine(4, 4, 4)},
          {"fat tree", box_machine({TopologyKind::fat_tree, {4, 2, 2}, {}}, 8)}};
}

double percent(Time a, Time b) { return 100 * (static_cast<double>(a) / static_cast<double>(b) - 1); }

// How far the last put may be apart, in percent.
void expect_trains_agree(const Place& place, double most) {
  for (const Case& test : patterns) {
    for (const Rows rows : {Rows{256, 1}, Rows{4096, 1}, Rows{65536, 1}, Rows{1 << 20, 1}, Rows{1000, 64}}) {
      if (rows.bytes > 65536 && place.machine.nodes > 16) continue;
      const Pattern pattern = test.pattern(place.machine.nodes, rows);
      const Outcome packets = Experiment(place.machine, Fidelity::tlp)(pattern);
      const Outcome trains = Experiment(place.machine, Fidelity::train)(pattern);
      double worst = 0;
      for (std::size_t i = 0; i < pattern.size(); ++i) {
        worst = std::max(worst, std::abs(percent(trains.arrivals[i], packets.arrivals[i])));
      }
      const double last = percent(trains.last(), packets.last());
      fmt::print(
          "{:15} {:9} {:8} x {:2}: {:9.3f} us, trains {:+.3f} %, single puts {:.3f} %, events 1/{:.1f}, {} "
          "of {} were demoted\n",
          place.name, test.name, rows.bytes, rows.count, des::to_us(packets.last()), last, worst,
          static_cast<double>(packets.events) / static_cast<double>(trains.events), trains.demoted,
          trains.trains);
      // Where slots are short, a train does not know how many its ring has left. In crowds two puts may change
      // their order, and so do those that come after them.
      const bool walks = test.name == std::string_view("walks");
      EXPECT_LT(std::abs(last), most) << test.name;
      EXPECT_LT(worst, walks ? 10 : std::max(0.3, most)) << test.name;
    }
  }
}

class Fidelities : public testing::TestWithParam<std::size_t> {
 protected:
  const Place place = places()[GetParam()];
};

TEST_P(Fidelities, TrainsAgreeWithPackets) { expect_trains_agree(place, 0.2); }

// Flows do not know which put blocks which, and in random puts that decides.
TEST_P(Fidelities, FlowsComeNearInBulk) {
  for (const Case& test : patterns) {
    if (test.pattern == random_puts) continue;
    const Pattern pattern = test.pattern(place.machine.nodes, {65536, 1});
    const Outcome packets = Experiment(place.machine, Fidelity::tlp)(pattern);
    const Outcome flows = Experiment(place.machine, Fidelity::flow)(pattern);
    const double last = percent(flows.last(), packets.last());
    fmt::print("{:15} {:9}: {:9.3f} us, flows {:+.3f} %, events 1/{:.1f}\n", place.name, test.name,
               des::to_us(packets.last()), last,
               static_cast<double>(packets.events) / static_cast<double>(flows.events));
    EXPECT_LT(std::abs(last), 12) << test.name;
  }
}

// Rows of a few bytes occupy tags and links for a long time, but hardly move any data.
TEST(Flows, OfSmallRowsLeaveOthersTheirShare) {
  const Pattern pattern{{0, 1, {65536, 1}}, {0, 2, {4, 512}}, {2, 1, {4, 512}}, {3, 1, {1, 1}}};
  const Description machine = peach_machine({TopologyKind::chain, {4}, {}}, 4);
  const Outcome packets = Experiment(machine, Fidelity::tlp)(pattern),
                flows = Experiment(machine, Fidelity::flow)(pattern);
  for (std::size_t i = 0; i < pattern.size(); ++i) {
    const double apart = percent(flows.arrivals[i], packets.arrivals[i]);
    fmt::print("put {}: {:.3f} us, flows {:+.3f} %\n", i, des::to_us(packets.arrivals[i]), apart);
    EXPECT_LT(std::abs(apart), 20) << i;
  }
}

INSTANTIATE_TEST_SUITE_P(Topologies, Fidelities, testing::Range(std::size_t{0}, places().size()));

// With two credits a packet that enters a cycle waits for whatever is on the link.
TEST(Trains, AgreeWithPacketsAroundCirclesOfTwoCredits) {
  Place place{"two credits", peach_machine({TopologyKind::ring, {8}, {}}, 8)};
  place.machine.links[1].credits = 2;
  expect_trains_agree(place, 2);
}

// A train that meets no other one costs a few events, whatever its length.
TEST(Trains, CostAFewEvents) {
  const Outcome train = Experiment(peach_machine(two_rings(), 16), Fidelity::train)({{0, 5, {4 << 20}}});
  EXPECT_LT(train.events, 12u);
  EXPECT_EQ(train.demoted, 0u);
}

// A train that contends with another one is demoted, and both take as long as their packets would.
TEST(Trains, FallApartWhereTheyMeet) {
  const Pattern pattern{{0, 1, {1 << 20}}, {2, 1, {1 << 20}, 50 * des::microsecond}};
  const Description machine = peach_machine({TopologyKind::chain, {4}, {}}, 4);
  const Outcome packets = Experiment(machine, Fidelity::tlp)(pattern),
                trains = Experiment(machine, Fidelity::train)(pattern);
  EXPECT_EQ(trains.demoted, 1u);
  EXPECT_EQ(trains.arrivals, packets.arrivals);
}

}  // namespace
}  // namespace tca::test
