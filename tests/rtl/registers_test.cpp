// What a host does with a hub by itself: registers, stores to other nodes, interrupts; and what user logic does.
#include <gtest/gtest.h>

#include <cstring>

#include "machine.hpp"

namespace tca::test {
namespace {

class Registers : public testing::TestWithParam<std::size_t> {};
INSTANTIATE_TEST_SUITE_P(Widths, Registers, testing::Values(128, 256), testing::PrintToStringParamName());

TEST_P(Registers, SayWhatTheHubIs) {
  Machine machine(GetParam(), 2, 1);
  EXPECT_EQ(machine.load(0, 0), 0x48414354u);
  EXPECT_EQ(machine.load(0, 4), 32U << 20 | 4U << 16 | 32U << 10 | GetParam());
  EXPECT_EQ(machine.load(1, reg::route), 0xffffff41u | 0U);
}

TEST_P(Registers, OfMemoryKeepBytes) {
  Machine machine(GetParam(), 1, 1);
  Bytes bytes(256);
  for (std::size_t k = 0; k < bytes.size(); ++k) bytes[k] = static_cast<std::byte>(k);
  machine[0].host.send(write(address(0, Target::hub, reg::memory + 0x204), bytes));
  machine[0].host.send(write(address(0, Target::hub, reg::memory + 0x211), std::span(bytes).subspan(1, 2)));
  EXPECT_EQ(machine.load(0, reg::memory + 0x204), 0x03020100u);
  EXPECT_EQ(machine.load(0, reg::memory + 0x210), 0x0f02010cu);
  EXPECT_EQ(machine.load(0, reg::memory + 0x300), 0xfffefdfcu);
}

TEST_P(Registers, StoresReachAnyNode) {
  Machine machine(GetParam(), 4, 1);
  for (std::uint64_t node = 0; node < 4; ++node) {
    machine[0].host.send(write64(address(node, Target::gpu1, 0x40), 100 + node));
    std::uint64_t word = 0;
    machine.until("the store", [&] {
      std::memcpy(&word, machine[node].host.memory(Target::gpu1).data() + 0x40, sizeof word);
      return word == 100 + node;
    });
  }
}

TEST_P(Registers, ANodeRingsForAnother) {
  Machine machine(GetParam(), 2, 1);
  const std::uint64_t chain = machine.place(1, {{.flag = address(0, Target::host, 0x40)}});
  machine.until("rest", [&] { return machine.idle(); });
  machine[0].host.send(write64(address(1, Target::hub, reg::channel(2) + reg::chain), chain));
  machine[0].host.send(write64(address(1, Target::hub, reg::channel(2) + reg::doorbell), 77));
  machine.until("the flag", [&] { return machine[0].host.word(0x40) == 77; });
}

TEST_P(Registers, InterruptsComeBehindTheEnd) {
  Machine machine(GetParam(), 1, 1);
  machine.store64(0, reg::msi_address, 0xfee00000);
  machine.store(0, reg::msi_data, 0x4021);
  const std::uint64_t chain = machine.place(0, {{.source = address(0, Target::host, 0x100),
                                                 .destination = address(0, Target::gpu0, 0x200),
                                                 .run = 100,
                                                 .interrupts = true}});
  machine.ring(0, 3, chain, 5);
  machine.until("the interrupt", [&] { return !machine[0].host.interrupts.empty(); });
  EXPECT_EQ(machine[0].host.interrupts.at(0), 0x4021u);
  EXPECT_EQ(machine[0].host.word(Machine::done_offset(3)), 5u);
  EXPECT_EQ(0, std::memcmp(machine[0].host.memory(Target::host).data() + 0x100,
                           machine[0].host.memory(Target::gpu0).data() + 0x200, 100));
}

TEST_P(Registers, UserLogicStartsChains) {
  Machine machine(GetParam(), 2, 1);
  machine.store(0, reg::channel(3) + reg::control, 1);
  for (std::uint64_t value = 1; value <= 3; ++value) {
    Descriptor put{.source = address(0, Target::host, 0x100 * value),
                   .destination = address(1, Target::gpu1, 0x100 * value),
                   .run = 256,
                   .last = false};
    machine[0].hub->offer({put.words(), value});
    machine.until("the descriptor to be taken", [&] { return !machine[0].hub->offering(); });
    Descriptor end{.flag = address(1, Target::host, 0x40)};
    machine[0].hub->offer({end.words(), 0});
    machine.until("the flag", [&] { return machine[1].host.word(0x40) == value; });
    machine.done(0, 3, value);
    EXPECT_EQ(0, std::memcmp(machine[0].host.memory(Target::host).data() + 0x100 * value,
                             machine[1].host.memory(Target::gpu1).data() + 0x100 * value, 256));
  }
}

}  // namespace
}  // namespace tca::test
