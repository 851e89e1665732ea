// Tests hubs in RTL on a modelled machine: the bytes that they move, the times that they take, and what is said when
// something goes wrong.
#include <fmt/format.h>
#include <gtest/gtest.h>

#include <numeric>
#include <vector>

#include "model/machine/machine.hpp"
#include "model/nic/peach.hpp"
#include "model/rtl/rtl_hub.hpp"

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

  // Puts the bytes of a shape, and returns the time in microseconds until the flag has come.
  double put(std::uint32_t from, std::uint32_t to, Buffer& target, const Buffer& source, const base::Shape& shape,
             const char* unit = "host") {
    DmaChain chain{{{network.endpoint(from, unit), network.endpoint(to, unit),
                     {shape.run, shape.runs()}, &arrived, &sent, {target.data(), source.data(), &shape}}}};
    chain.about = {.rank = static_cast<int>(from), .chain = "faces", .step = 3};
    const des::Time begin = simulator.now();
    hub.start(from, 0, chain);
    const std::uint64_t before = arrived.value();
    while (arrived.value() == before && simulator.step()) continue;
    const double us = des::to_us(simulator.now() - begin);
    simulator.run();
    EXPECT_EQ(arrived.value(), before + 1);
    EXPECT_EQ(sent.value(), before + 1);
    return us;
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
      const double us = rig.put(0, 1, target, source, shape);
      EXPECT_TRUE(target == source) << bytes;
      fmt::print("{} {} B: {:.3f} us\n", name, bytes, us);
    }
  }
}

}  // namespace
}  // namespace tca::test
