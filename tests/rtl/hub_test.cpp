// One hub, and several in a ring, against a memory model: bytes, flags behind their data, and cycles.
#include <gtest/gtest.h>

#include <algorithm>
#include <cstring>

#include "machine.hpp"

namespace tca::test {
namespace {

class Hubs : public testing::TestWithParam<std::size_t> {};
INSTANTIATE_TEST_SUITE_P(Widths, Hubs, testing::Values(128, 256), testing::PrintToStringParamName());

TEST_P(Hubs, APutArrivesAndItsFlagBehindIt) {
  Machine machine(GetParam(), 2, 1);
  constexpr std::uint64_t source = 0x1000, destination = 0x8000, flag = 0x20000;
  const std::uint64_t chain = machine.place(0, {{.source = address(0, Target::host, source),
                                                 .destination = address(1, Target::host, destination),
                                                 .run = 4096,
                                                 .flag = address(1, Target::host, flag)}});
  machine.ring(0, 0, chain, 42);
  machine.until("the flag", [&] { return machine[1].host.word(flag) == 42; });
  EXPECT_EQ(0, std::memcmp(machine[0].host.memory(Target::host).data() + source,
                           machine[1].host.memory(Target::host).data() + destination, 4096));
  machine.done(0, 0, 42);
}

}  // namespace
}  // namespace tca::test
