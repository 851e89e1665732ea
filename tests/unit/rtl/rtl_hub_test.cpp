// Tests hubs in RTL on a modelled machine: the bytes that they move, the times that they take, and what is said when
// something goes wrong.
#include "model/rtl/rtl_hub.hpp"

#include <gtest/gtest.h>

#include <array>
#include <filesystem>
#include <fstream>
#include <memory>
#include <string_view>
#include <utility>
#include <vector>

#include "model/machine/machine.hpp"
#include "model/rtl/make_hub.hpp"
#include "tca/tca.hpp"

namespace tca::test {
namespace {

using namespace net;
using Buffer = std::vector<std::byte>;

Buffer counted(std::size_t bytes) {
  Buffer buffer(bytes);
  for (std::size_t i = 0; i < bytes; ++i) buffer[i] = static_cast<std::byte>(i * 7 + i / 256);
  return buffer;
}

struct Rig {
  explicit Rig(const char* name = "ha-pacs-tca")
      : machine(read_machine(name)),
        network(simulator, machine.network, Fidelity::rtl),
        host(find_unit(machine.network.node, "host")),
        hub(network, network.interconnect("peach"), host),
        arrived(simulator, {"a put"}),
        sent(simulator, {"a put's own flag"}) {}

  DmaChain chain_of(std::uint32_t from, std::uint32_t to, const Rows& rows, const Bytes& bytes) {
    DmaChain chain{
        {{network.endpoint(from, "host"), network.endpoint(to, "host"), rows, &arrived, &sent, bytes}}};
    chain.about = {.rank = static_cast<int>(from), .chain = "faces", .step = 3};
    return chain;
  }

  // Puts the bytes of a shape.
  void put(std::uint32_t from, std::uint32_t to, Buffer& target, const Buffer& source,
           const base::Shape& shape) {
    const DmaChain chain =
        chain_of(from, to, {shape.run, shape.runs()}, {target.data(), source.data(), &shape, nullptr});
    const std::uint64_t before = arrived.value();
    hub.start(from, 0, chain);
    simulator.run();
    EXPECT_EQ(arrived.value(), before + 1);
    EXPECT_EQ(sent.value(), before + 1);
  }

  // Expects a chain to fail for a reason, in words that tell whose it is.
  void expect_failure(const DmaChain& chain, std::string_view why) {
    try {
      hub.start(chain.descriptors[0].from.node, 0, chain);
      simulator.run();
      ADD_FAILURE() << "nothing was said of: " << why;
    } catch (const Error& error) {
      EXPECT_EQ(error.code(), Errc::device_failed);
      EXPECT_EQ(error.rank(), 0);
      EXPECT_EQ(error.chain(), "faces");
      EXPECT_EQ(error.step(), 3u);
      EXPECT_NE(std::string_view(error.what()).find(why), std::string_view::npos) << error.what();
      EXPECT_NE(std::string_view(error.what()).find("chain 'faces', step 3 of rank 0"),
                std::string_view::npos)
          << error.what();
    }
  }

  Machine machine;
  des::Simulator simulator;
  Network network;
  std::uint32_t host;
  rtl::RtlHub hub;
  des::Counter arrived, sent;
};

TEST(RtlHub, PutsTheBytesOfAnySize) {
  for (const char* const name : {"ha-pacs-tca", "peach3"}) {
    Rig rig(name);
    for (const std::size_t bytes : {8u, 1u, 13u, 4096u, 65536u}) {
      const Buffer source = counted(bytes);
      Buffer target(bytes);
      const base::Shape shape{.run = bytes};
      rig.put(0, 1, target, source, shape);
      EXPECT_TRUE(target == source) << bytes << " bytes on " << name;
    }
  }
}

TEST(RtlHub, PutsRowsToAnyNodeAndBackwards) {
  Rig rig;
  const base::Shape shape{.run = 37, .loop_count = 2, .loops = {{{9, -64, 48}, {5, 1000, 500}}}};
  const Buffer source = counted(4096);
  for (const std::uint32_t to : {0u, 2u, 7u, 15u}) {
    Buffer target(8192), expected(8192);
    const DmaChain chain = rig.chain_of(0, to, {shape.run, shape.runs()},
                                        {target.data() + 1000, source.data() + 3, &shape, nullptr});
    base::copy(expected.data() + 1000, source.data() + 3, shape);
    rig.hub.start(0, 1, chain);
    rig.simulator.run();
    EXPECT_TRUE(target == expected) << "node " << to;
  }
}

// More descriptors than a channel has room for in its hub.
TEST(RtlHub, LongChainsAreFetchedFromTheHost) {
  Rig rig;
  const Buffer source = counted(64 * 300);
  Buffer target(source.size());
  const base::Shape shape{.run = 64};
  DmaChain chain;
  for (std::size_t i = 0; i < 300; ++i)
    chain.descriptors.push_back(
        rig.chain_of(0, 1, {64, 1}, {target.data() + 64 * i, source.data() + 64 * i, &shape, nullptr})
            .descriptors[0]);
  rig.hub.start(0, 0, chain);
  rig.simulator.run();
  EXPECT_EQ(rig.arrived.value(), 300u);
  EXPECT_TRUE(target == source);
}

TEST(RtlHub, SaysWhatWentWrongAndWhose) {
  Rig rig;
  const Buffer source = counted(1000);
  const base::Shape shape{.run = source.size()};
  Buffer target(source.size());
  const DmaChain chain = rig.chain_of(0, 1, {1000, 1}, {target.data(), source.data(), &shape, nullptr});
  const std::array<std::pair<rtl::Fault, std::string_view>, 4> faults{
      {{rtl::Fault::unsupported, "unsupported request"},
       {rtl::Fault::abort, "aborted a read"},
       {rtl::Fault::poisoned, "poisoned data"},
       {rtl::Fault::lost, "not answered in time"}}};
  for (const auto& [fault, why] : faults) {
    Rig fresh;
    fresh.hub.hubs().spoil(0, 3, fault);
    fresh.expect_failure(fresh.chain_of(0, 1, {1000, 1}, chain.descriptors[0].bytes), why);
  }
  Rig fresh;
  fresh.expect_failure(fresh.chain_of(0, 1, {8, 0}, {}), "a length that cannot be");
}

TEST(RtlHub, ADoorbellWhileAChainRunsIsAnError) {
  Rig rig;
  const DmaChain chain = rig.chain_of(0, 1, {65536, 1}, {});
  rig.hub.start(0, 0, chain);
  rig.simulator.run_until(5 * des::microsecond);
  const std::array<std::uint64_t, 2> words{0, 99};
  rig.hub.hubs().store(0, rtl::address_of(0, rtl::Target::hub, rtl::at::channel(0) + rtl::at::chain),
                       std::as_bytes(std::span(words)));
  try {
    rig.simulator.run();
    ADD_FAILURE() << "nothing was said";
  } catch (const Error& error) {
    EXPECT_NE(std::string_view(error.what()).find("its doorbell was rung while it was busy"),
              std::string_view::npos)
        << error.what();
  }
}

// A memory whose answers take longer than the hub waits for them.
TEST(RtlHub, ARankIsToldOfWhatWentWrongInItsChain) {
  const std::filesystem::path file = std::filesystem::path(testing::TempDir()) / "impatient.toml";
  std::ofstream(file) << "extends = \"ha-pacs-tca\"\n[units.peach2.rtl]\n"
                         "time_out = { value = 0.1, unit = \"us\", fitted = \"fit: a test\" }\n";
  try {
    World::run_threads(
        2,
        [](World& world) {
          const Window<int> u = world.window<int>(64);
          Chain chain = world.chain("faces", {.channel = "tca"});
          chain.put(u.on(1 - world.rank()).at(32), u.at(0), block(32)).expect(1 - world.rank()).commit();
          chain.start();
          chain.wait();
        },
        {.fabric = "sim", .machine = file.string(), .fidelity = "rtl"});
    ADD_FAILURE() << "nothing was said";
  } catch (const Error& error) {
    EXPECT_EQ(error.code(), Errc::device_failed);
    EXPECT_EQ(error.chain(), "faces");
    EXPECT_EQ(error.step(), 1u);
    EXPECT_TRUE(error.rank().has_value());
    EXPECT_NE(std::string_view(error.what()).find("a read was not answered in time"), std::string_view::npos)
        << error.what();
  }
}

TEST(RtlHub, AMachineWithoutOneIsRefused) {
  try {
    World::run_threads(2, [](World&) {}, {.fabric = "sim", .machine = "quong", .fidelity = "rtl"});
    ADD_FAILURE() << "nothing was said";
  } catch (const Error& error) {
    EXPECT_STREQ(
        error.what(),
        "fidelity rtl: machine 'quong' has no hub in RTL: its file has no [units.NAME.rtl]; choose tlp");
  }
}

// Two implementations of one machine, whose packet model has the cycles of the RTL.
TEST(RtlHub, AgreesWithThePacketModel) {
  const Machine machine = read_machine("ha-pacs-tca-hub");
  const auto us = [&](Fidelity fidelity, const char* unit, const std::vector<Rows>& puts) {
    des::Simulator simulator;
    Network network(simulator, machine.network, fidelity);
    const std::unique_ptr<Hub> hub =
        make_hub(network, network.interconnect("peach"), find_unit(machine.network.node, "host"));
    des::Counter arrived(simulator, {"a put"});
    DmaChain chain;
    for (const Rows& rows : puts)
      chain.descriptors.push_back({network.endpoint(0, unit), network.endpoint(1, unit), rows});
    chain.descriptors.back().arrived = &arrived;
    const auto once = [&] {
      const des::Time begin = simulator.now();
      const std::uint64_t before = arrived.value();
      hub->start(0, 0, chain);
      while (arrived.value() == before && simulator.step()) continue;
      const double taken = des::to_us(simulator.now() - begin);
      simulator.run();
      return taken;
    };
    once();  // writes the table into the hub
    return once();
  };
  const auto compare = [&](const char* unit, const std::vector<Rows>& puts) {
    const double rtl = us(Fidelity::rtl, unit, puts), tlp = us(Fidelity::tlp, unit, puts);
    EXPECT_NEAR(rtl / tlp, 1, 0.03) << unit << ": " << puts.size() << " puts of " << puts[0].count << " x "
                                    << puts[0].bytes << " B: " << rtl << " and " << tlp << " us";
  };
  for (const char* const unit : {"host", "gpu0"}) {
    for (const Rows& rows :
         {Rows{8}, Rows{1024}, Rows{4096}, Rows{65536}, Rows{64, 64}, Rows{64, 256}, Rows{8, 256}})
      compare(unit, {rows});
    for (const Rows& rows : {Rows{8}, Rows{64}, Rows{1024}})
      for (const std::size_t puts : {4u, 64u}) compare(unit, std::vector<Rows>(puts, rows));
  }
}

}  // namespace
}  // namespace tca::test
