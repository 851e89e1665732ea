// Tests APEnet+'s card, end to end.
#include <fmt/format.h>
#include <gtest/gtest.h>

#include "messages.hpp"
#include "model/nic/ape.hpp"
#include "net_machines.hpp"

namespace tca::test {
namespace {

using namespace net;
using des::Time;

// Returns the microseconds until the last of `puts` equal puts has been announced. They go from node 0 to
// `node`, by default its neighbour; node 0 itself makes a loop-back.
double last_of(int puts, std::uint64_t bytes, const char* from, const char* to, Fidelity fidelity,
               void (*change)(ApeKind&) = nullptr, std::uint32_t node = 1) {
  Description machine = ape_machine();
  if (change != nullptr) change(*machine.node.units[3].ape);
  des::Simulator simulator;
  Network network(simulator, machine, fidelity);
  Ape ape(network, 0, 0);
  des::Counter arrived(simulator, {"puts"});
  for (int i = 0; i < puts; ++i)
    ape.put({network.endpoint(0, from), network.endpoint(node, to), bytes, &arrived});
  simulator.run();
  EXPECT_EQ(arrived.value(), static_cast<std::uint64_t>(puts));
  return des::to_us(simulator.now());
}

double rate(std::uint64_t bytes, const char* from, const char* to, void (*change)(ApeKind&) = nullptr,
            std::uint32_t node = 1) {
  const double small = last_of(1, bytes, from, to, Fidelity::tlp, change, node);
  return static_cast<double>(bytes) / (last_of(1, 2 * bytes, from, to, Fidelity::tlp, change, node) - small);
}

constexpr std::uint64_t much = 1 << 20;

TEST(Ape, ASmallPutTakesTheSumOfItsWay) {
  // The terms: the command, the card's start, request and answer, the cable, the address translation, the way
  // into memory, and the event. Between a memory and the card there are two wires of 100 ns and a hop of 50
  // ns. Whatever leaves the card has spent 150 ns there.
  const double bus = 0.25, card = 0.15;
  const double read = 2 * bus + 0.2 + card, cable = card + 0.2 + card, translate = 1.6 + card,
               write = bus + 0.06;
  const double expected = bus + 3 + read + cable + translate + write + card + write;
  EXPECT_NEAR(last_of(1, 32, "host", "host", Fidelity::tlp), expected, 0.2);
}

// A single engine reads each packet, sends it, and rests.
TEST(Ape, ASecondEngineHidesTheRest) {
  const auto second = [](ApeKind& card) {
    card.engines = 2;
    card.translate = des::from_ns(100);
  };
  const auto first = [](ApeKind& card) { card.translate = des::from_ns(100); };
  const double one = rate(much, "host", "host", first), two = rate(much, "host", "host", second);
  EXPECT_GT(two, 1.4 * one);
}

// The three versions of the card (vicini13): one request at a time, a window, and as much as the GPU delivers.
TEST(Ape, AGpusWindowBoundsItsRate) {
  const auto alone = [](ApeKind& card) {
    card.translate = card.translate_gpu = des::from_ns(100);
    card.gpu_window = card.request_bytes;
  };
  const auto window = [](ApeKind& card) {
    card.translate = card.translate_gpu = des::from_ns(100);
    card.gpu_window = 2048;
  };
  const auto unlimited = [](ApeKind& card) {
    card.translate = card.translate_gpu = des::from_ns(100);
    card.gpu_window = 1 << 20;
  };
  const double v1 = rate(much, "gpu", "gpu", alone), v2 = rate(much, "gpu", "gpu", window),
               v3 = rate(much, "gpu", "gpu", unlimited);
  // A request travels 0.5 us on the bus both ways, waits 0.5 us for the GPU, which needs 0.32 us for its
  // data, takes 0.15 us in the card, which then rests for 0.08 us.
  EXPECT_NEAR(v1, 512 / (2 * 0.25 + 0.5 + 0.32 + 0.15 + 0.08), 15);
  EXPECT_GT(v2, 2.5 * v1);
  EXPECT_NEAR(v3, 1600, 20);  // the GPU's own rate
}

TEST(Ape, TranslationBoundsTheReceiver) {
  // A packet of 4 KiB takes 1.12 us on the bus, after its address has been translated.
  EXPECT_NEAR(rate(much, "gpu", "host"), 4096 / (1.6 + 1.12), 15);
  EXPECT_NEAR(rate(much, "gpu", "gpu"), 4096 / (2.0 + 1.12), 15);
  const auto beside = [](ApeKind& card) { card.translate_overlaps = true; };
  EXPECT_NEAR(rate(much, "gpu", "host", beside), 1600, 20);  // here reading the GPU is the bottleneck
}

// What returns into the card from which it came needs address translation as well.
TEST(Ape, LoopBackIsTranslated) {
  EXPECT_NEAR(rate(much, "gpu", "host", nullptr, 0), 4096 / (1.6 + 1.12), 15);
  EXPECT_NEAR(rate(much, "gpu", "gpu", nullptr, 0), 4096 / (2.0 + 1.12), 15);
}

// Each address is translated once. Host and GPU addresses have separate translation times, before or beside
// the data.
TEST(Ape, TranslationDelaysASmallPutOnce) {
  const auto none = [](ApeKind& card) { card.translate = card.translate_gpu = 0; };
  const auto of_a_host = [](ApeKind& card) { card.translate = des::microsecond, card.translate_gpu = 0; };
  const auto of_a_gpu = [](ApeKind& card) { card.translate = 0, card.translate_gpu = des::microsecond; };
  const auto none_beside = [](ApeKind& card) {
    card.translate = card.translate_gpu = 0;
    card.translate_overlaps = true;
  };
  const auto of_a_host_beside = [](ApeKind& card) {
    card.translate = des::microsecond, card.translate_gpu = 0;
    card.translate_overlaps = true;
  };
  const auto of_a_gpu_beside = [](ApeKind& card) {
    card.translate = 0, card.translate_gpu = des::microsecond;
    card.translate_overlaps = true;
  };
  const auto us = [](const char* to, void (*change)(ApeKind&)) {
    return last_of(1, 32, "gpu", to, Fidelity::tlp, change);
  };
  // 32 bytes take 20 ns on the cable. When the data moves beside the translation, they do not add to it.
  EXPECT_NEAR(us("host", of_a_host) - us("host", none), 1, 1e-6);
  EXPECT_NEAR(us("gpu", of_a_gpu) - us("gpu", none), 1, 1e-6);
  EXPECT_NEAR(us("host", of_a_host_beside) - us("host", none_beside), 1, 0.02);
  EXPECT_NEAR(us("gpu", of_a_gpu_beside) - us("gpu", none_beside), 1, 0.02);
  EXPECT_EQ(us("host", of_a_gpu), us("host", none));
  EXPECT_EQ(us("gpu", of_a_host), us("gpu", none));
  EXPECT_EQ(us("host", of_a_gpu_beside), us("host", none_beside));
  EXPECT_EQ(us("gpu", of_a_host_beside), us("gpu", none_beside));
}

TEST(Ape, PutsComeOneAfterTheOther) {
  const double one = last_of(1, much, "gpu", "gpu", Fidelity::tlp),
               four = last_of(4, much, "gpu", "gpu", Fidelity::tlp);
  EXPECT_NEAR(four / one, 4, 0.1);
}

TEST(Ape, EveryFidelityAgrees) {
  for (const char* from : {"host", "gpu"}) {
    for (const char* to : {"host", "gpu"}) {
      for (const std::uint64_t bytes : {std::uint64_t{32}, std::uint64_t{4096}, much}) {
        const double packets = last_of(2, bytes, from, to, Fidelity::tlp),
                     trains = last_of(2, bytes, from, to, Fidelity::train);
        fmt::print("{:4} to {:4} {:8}: {:9.3f} us, trains {:+.3f} %\n", from, to, bytes, packets,
                   100 * (trains / packets - 1));
        EXPECT_NEAR(trains / packets, 1, 0.02);
      }
    }
  }
}

TEST(Ape, RefusesOtherNics) {
  des::Simulator simulator;
  Network network(simulator, torus_machine(2, 1, 1));
  EXPECT_TRUE(refuses(Errc::invalid_argument, {"'nic' is no APEnet+ card"}, [&] { Ape ape(network, 0, 0); }));
}

}  // namespace
}  // namespace tca::test
