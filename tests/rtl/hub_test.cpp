// Hubs in a ring against a memory model: bytes, flags behind their data, and cycles.
#include <gtest/gtest.h>

#include <algorithm>
#include <cstring>

#include "machine.hpp"
#include "seed.hpp"

namespace tca::test {
namespace {

class Hubs : public testing::TestWithParam<std::size_t> {};
INSTANTIATE_TEST_SUITE_P(Widths, Hubs, testing::Values(128, 256), testing::PrintToStringParamName());

// Each row of a descriptor: where it begins on both sides.
void each_row(const Descriptor& descriptor, const std::function<void(std::uint64_t, std::uint64_t)>& row) {
  const auto& loops = descriptor.loops;
  for (std::uint32_t k = 0; k < loops[2].count; ++k) {
    for (std::uint32_t j = 0; j < loops[1].count; ++j) {
      for (std::uint32_t i = 0; i < loops[0].count; ++i) {
        const auto at = [&](std::int64_t a, std::int64_t b, std::int64_t c) {
          return static_cast<std::uint64_t>(i * a + j * b + k * c);
        };
        row(descriptor.source + at(loops[0].source, loops[1].source, loops[2].source),
            descriptor.destination + at(loops[0].destination, loops[1].destination, loops[2].destination));
      }
    }
  }
}

std::byte* bytes_at(Machine& machine, std::uint64_t address) {
  return machine[address >> 35 & 15].host.memory(static_cast<Target>(address >> 33 & 3)).data() +
         (address & ((1ULL << 33) - 1));
}

bool arrived(Machine& machine, const Descriptor& descriptor) {
  bool equal = true;
  each_row(descriptor, [&](std::uint64_t source, std::uint64_t destination) {
    equal &= std::memcmp(bytes_at(machine, source), bytes_at(machine, destination), descriptor.run) == 0;
  });
  return equal;
}

TEST_P(Hubs, APutArrivesAndItsFlagBehindIt) {
  Machine machine(GetParam(), 2, 1);
  const Descriptor put{.source = address(0, Target::host, 0x1000),
                       .destination = address(1, Target::host, 0x8000),
                       .run = 4096,
                       .flag = address(1, Target::host, flags)};
  bool flagged = false;
  machine[1].host.on_write = [&](const Tlp& tlp) {
    if (tlp.address == *put.flag) flagged = arrived(machine, put);
  };
  machine.ring(0, 0, machine.place(0, {put}), 42);
  machine.done(0, 0, 42);
  machine.until("the flag", [&] { return machine[1].host.word(flags) == 42; });
  EXPECT_TRUE(flagged);
}

// --- Random chains -------------------------------------------------------------------------------

class Random {
 public:
  explicit Random(std::uint64_t seed) : engine_(seed) {}
  std::uint32_t below(std::uint32_t limit) { return static_cast<std::uint32_t>(engine_() % limit); }
  std::uint32_t within(std::uint32_t low, std::uint32_t high) { return low + below(high - low + 1); }
  bool coin() { return (engine_() & 1) != 0; }

 private:
  std::mt19937_64 engine_;
};

// Rows without overlap in `room` bytes from `destination` on, of any alignment, some of them walked backwards.
Descriptor random_put(Random& random, std::uint64_t source, std::uint64_t destination, std::uint32_t room) {
  Descriptor put;
  const std::uint32_t lengths[] = {random.within(1, 16), random.within(1, 300), random.within(1, room / 2)};
  put.run = std::min(lengths[random.below(3)], room - 64);
  put.source = source + random.below(64);
  put.destination = destination + random.below(64);
  std::uint32_t extent = put.run;
  for (Loop& loop : put.loops) {
    const std::uint32_t pitch = extent + random.below(40);
    loop.count = std::min(random.within(1, 5), 1 + (room - 64 - extent) / pitch);
    loop.source = static_cast<std::int32_t>(pitch + random.below(8));
    loop.destination = static_cast<std::int32_t>(pitch);
    extent += (loop.count - 1) * pitch;
    if (random.below(4) == 0) {
      put.destination += std::uint64_t{loop.count - 1} * pitch;
      loop.destination = -loop.destination;
    }
  }
  return put;
}

// All channels of all nodes put random descriptors to random nodes, from memories of hubs and hosts.
void random_chains(std::size_t width, std::uint64_t seed) {
  constexpr std::uint32_t nodes = 3, channels = 4, puts = 4, room = 2048;
  Random random(seed);
  Machine machine(width, nodes, seed, random.within(1, 100));
  std::vector<Descriptor> all;
  std::map<std::uint64_t, Descriptor> flagged;  // by the address of the flag
  std::size_t flags_seen = 0;
  const std::uint32_t request = 64U << random.below(3), tags = random.coin() ? 32 : random.within(1, 31);
  for (std::uint32_t node = 0; node < nodes; ++node) {
    machine[node].host.shuffled = random.below(4) != 0;
    machine[node].host.on_write = [&](const Tlp& tlp) {
      const auto put = flagged.find(tlp.address);
      if (put == flagged.end()) return;
      ++flags_seen;
      ASSERT_TRUE(arrived(machine, put->second));
    };
    machine.store(node, reg::config, tags << 16 | request);
    for (std::uint32_t channel = 0; channel < channels; ++channel) {
      std::vector<Descriptor> chain;
      for (std::uint32_t k = 0; k < puts; ++k) {
        const std::uint32_t place = (node * channels + channel) * puts + k;
        const std::uint64_t source =
            address(node, random.coin() ? Target::host : Target::gpu1, random.below(0xf000));
        const std::uint32_t to = random.below(nodes);
        chain.push_back(random_put(random, source, address(to, Target::gpu0, place * room), room));
        if (random.below(3) != 0) {
          chain.back().flag = address(to, Target::host, flags + 8 * place);
          flagged[*chain.back().flag] = chain.back();
        }
        all.push_back(chain.back());
      }
      machine.ring(node, channel, machine.place(node, chain, puts * channel, random.coin()),
                   1 + seed + channel);
    }
  }
  for (std::uint32_t node = 0; node < nodes; ++node) {
    for (std::uint32_t channel = 0; channel < channels; ++channel)
      machine.done(node, channel, 1 + seed + channel);
  }
  machine.until("all flags", [&] { return flags_seen == flagged.size(); });
  machine.until("all hubs to rest", [&] { return machine.idle(); });
  for (const Descriptor& put : all) EXPECT_TRUE(arrived(machine, put));
  for (std::uint32_t node = 0; node < nodes; ++node) EXPECT_EQ(machine.load(node, reg::errors), 0u);
}

TEST_P(Hubs, CarryRandomChainsInAnyOrderOfAnswers) {
  const Seed first;
  SCOPED_TRACE(first.how_to_repeat());
  for (std::uint64_t seed = first.value(); seed < first.value() + 25; ++seed) {
    SCOPED_TRACE("machine " + std::to_string(seed));
    ASSERT_NO_THROW(random_chains(GetParam(), seed));
  }
}

// --- Cycles --------------------------------------------------------------------------------------

// Cycles of 4 ns.
struct Times {
  std::uint64_t cable = 83, memory = 80;
};

// From the doorbell to the last flag, both at the hosts' ends, of puts from host to host over one cable.
std::uint64_t cycles_of(std::size_t width, const Times& times, std::vector<Descriptor> puts) {
  Machine machine(width, 2, 1, times.cable);
  machine[0].host.latency = times.memory;
  for (Descriptor& put : puts) {
    put.source = address(0, Target::host, 0x1000);
    put.destination = address(1, Target::host, 0x1000);
  }
  puts.back().flag = address(1, Target::host, flags);
  const std::uint64_t chain = machine.place(0, puts);
  machine.until("rest", [&] { return machine.idle(); });
  const std::uint64_t start = machine.now();
  machine.ring(0, 0, chain, 7);
  machine.until("the flag", [&] { return machine[1].host.word(flags) == 7; });
  return machine.now() - start;
}

TEST_P(Hubs, SendAPacketWithoutABubble) {
  const std::uint64_t beats = 1 + 256 * 8 / GetParam();
  const std::uint64_t cycles =
      cycles_of(GetParam(), {}, {{.run = 1 << 16}}) - cycles_of(GetParam(), {}, {{.run = 1 << 15}});
  RecordProperty("cycles_of_a_packet_x_128", static_cast<int>(cycles));
  EXPECT_LE(cycles, 128 * beats + 8);
}

TEST_P(Hubs, SendEightBytesInFewCyclesOfTheirOwn) {
  const std::uint64_t cycles = cycles_of(GetParam(), {}, {{.run = 8}}) - Times{}.cable - Times{}.memory;
  RecordProperty("cycles", static_cast<int>(cycles));
  EXPECT_LE(cycles, 48u);
}

// A memory that answers soon and a short cable show what the hub takes by itself.
TEST_P(Hubs, TakeThreeCyclesForADescriptorAndTwoForARow) {
  const Times near{.cable = 1, .memory = 1};
  const auto chain = [&](std::size_t puts) {
    return cycles_of(GetParam(), near, std::vector<Descriptor>(puts, {.run = 8}));
  };
  const auto rows = [&](std::uint32_t count) {
    return cycles_of(GetParam(), near, {{.run = 8, .loops = {{{count, 16, 16}}}}});
  };
  EXPECT_LE(chain(96) - chain(32), 64 * 3 + 4);
  EXPECT_LE(rows(192) - rows(64), 128 * 2 + 4);
}

}  // namespace
}  // namespace tca::test
