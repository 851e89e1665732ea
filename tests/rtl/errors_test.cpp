// What goes wrong stops the channel that it concerns, with its cause, and nothing else; nothing hangs.
#include <gtest/gtest.h>

#include <cstring>

#include "machine.hpp"
#include "seed.hpp"

namespace tca::test {
namespace {

enum Cause : std::uint64_t {
  none,
  busy,
  length,
  misaddressed,
  unfetched,
  unsupported,
  aborted,
  poisoned,
  malformed,
  silent
};

class Errors : public testing::TestWithParam<std::size_t> {
 protected:
  Errors() : machine(GetParam(), 2, 5) {
    for (std::size_t node = 0; node < 2; ++node) {
      machine.store(node, reg::timeout, 400);
      for (std::uint64_t channel = 0; channel < 4; ++channel) set_flag(channel, 0);
    }
  }

  static Descriptor put(std::uint64_t channel, std::uint32_t bytes = 1000) {
    return {.source = address(0, Target::host, 0x1000 * channel + 3),
            .destination = address(1, Target::gpu0, 0x1000 * channel + 2),
            .run = bytes,
            .flag = address(1, Target::host, flags + 8 * channel)};
  }
  void set_flag(std::uint64_t channel, std::uint64_t value) {
    std::memcpy(machine[1].host.memory(Target::host).data() + flags + 8 * channel, &value, sizeof value);
  }
  std::uint64_t flag(std::uint64_t channel) { return machine[1].host.word(flags + 8 * channel); }

  // Starts `chain` on channel 1, between two puts on others, which must not notice.
  void expect_stop(Cause cause, const std::vector<Descriptor>& chain) {
    expect_stop(cause, machine.place(0, chain, first_slot));
  }
  void expect_stop(Cause cause, std::uint64_t chain) {
    const std::uint64_t value = ++step_;
    machine.ring(0, 0, machine.place(0, {put(0)}, 0), value);
    machine.ring(0, 1, chain, value);
    machine.ring(0, 2, machine.place(0, {put(2)}, 16), value);
    machine.done(0, 1, value, cause);
    machine.done(0, 0, value);
    machine.done(0, 2, value);
    machine.until("flags", [&] { return flag(0) == value && flag(2) == value; });
    const std::uint64_t status = reg::channel(1) + reg::status;
    EXPECT_EQ(machine.load(0, status), 2 | cause << 4);
    EXPECT_EQ(flag(1), before_);
    where = machine.load(0, reg::channel(1) + reg::where);
    machine.store(0, status, 2);
    EXPECT_EQ(machine.load(0, status), 0u);
    machine[0].host.on_completion = nullptr;

    // The channel serves again.
    machine.ring(0, 1, machine.place(0, {put(1)}, 24), ++step_);
    machine.done(0, 1, step_);
    machine.until("the flag", [&] { return flag(1) == step_; });
    before_ = step_;
  }

  // Changes the n-th answer to a read of channel 1's put.
  void spoil(std::size_t nth, std::function<bool(Tlp&)> how) {
    machine[0].host.on_completion = [=, seen = std::size_t{0}](Tlp& tlp) mutable {
      const bool mine = tlp.tag < 128 && marked(tlp);
      return mine && ++seen == nth ? how(tlp) : true;
    };
  }
  // Channel 1 reads words that say so.
  void mark() { std::memset(machine[0].host.memory(Target::host).data() + 0x1000, 0xa5, 0x1000); }
  static bool marked(const Tlp& tlp) {
    return tlp.payload.size() > 8 && tlp.payload[7] == std::byte{0xa5} && tlp.payload[8] == std::byte{0xa5};
  }

  static constexpr std::uint64_t first_slot = 8;
  Machine machine;
  std::uint64_t where = 0;  // the last that stopped

 private:
  std::uint64_t step_ = 0, before_ = 0;
};
INSTANTIATE_TEST_SUITE_P(Widths, Errors, testing::Values(128, 256), testing::PrintToStringParamName());

Tlp without_data(Tlp tlp, std::uint32_t status) {
  tlp.status = status;
  tlp.data = false;
  tlp.dwords = 0;
  tlp.payload.clear();
  return tlp;
}

TEST_P(Errors, OfAnswersStopTheirChannel) {
  mark();
  spoil(2, [](Tlp& tlp) { return tlp = without_data(tlp, 1), true; });
  expect_stop(unsupported, {put(1)});
  spoil(1, [](Tlp& tlp) { return tlp = without_data(tlp, 4), true; });
  expect_stop(aborted, {put(1)});
  spoil(3, [](Tlp& tlp) { return tlp.poisoned = true; });
  expect_stop(poisoned, {put(1), put(1)});
  spoil(2, [](Tlp& tlp) { return ++tlp.byte_count != 0; });
  expect_stop(malformed, {put(1)});
  spoil(4, [](Tlp& tlp) {
    tlp.payload.resize(tlp.payload.size() + 8);
    tlp.dwords += 2;
    return true;
  });
  expect_stop(malformed, {put(1)});
  spoil(4, [](Tlp&) { return false; });
  expect_stop(silent, {put(1)});
  EXPECT_EQ(machine.load(0, reg::errors), 0u);
}

// What comes after the time-out of its read is of no use to the next read with its tag, however much alike both are.
TEST_P(Errors, LateAnswersCountForNobody) {
  machine.store(0, reg::config, 1 << 16 | 256);  // one tag
  const Descriptor first{.source = address(0, Target::host, 0x1000),
                         .destination = address(1, Target::gpu0, 0x1000),
                         .run = 256};
  Descriptor second = first;
  second.source += 0x1000;
  machine[0].host.delay = [seen = 0](const Tlp& tlp) mutable -> std::uint64_t {
    return tlp.tag < 128 && ++seen == 1 ? 460 : 0;
  };
  machine.ring(0, 1, machine.place(0, {first}, 8), 1);
  machine.done(0, 1, 1, silent);
  machine.store(0, reg::channel(1) + reg::status, 2);
  machine[0].host.latency = 200;
  machine.ring(0, 1, machine.place(0, {second}, 16), 2);
  machine.done(0, 1, 2);
  machine.until("rest", [&] { return machine.idle(); });
  const std::byte* const from = machine[0].host.memory(Target::host).data() + 0x2000;
  EXPECT_EQ(std::memcmp(from, machine[1].host.memory(Target::gpu0).data() + 0x1000, 256), 0);
  EXPECT_EQ(machine.load(0, reg::errors), 8u);
}

TEST_P(Errors, LateDescriptorsCountForNobody) {
  const std::uint64_t late = machine.place(0, {put(1)}, 8, true), next = machine.place(0, {put(3)}, 16, true);
  machine[0].host.delay = [seen = 0](const Tlp& tlp) mutable -> std::uint64_t {
    return tlp.tag >= 128 && ++seen == 1 ? 460 : 0;
  };
  machine.ring(0, 1, late, 1);
  machine.done(0, 1, 1, unfetched);
  machine.store(0, reg::channel(1) + reg::status, 2);
  machine[0].host.latency = 200;
  machine.ring(0, 1, next, 2);
  machine.done(0, 1, 2);
  machine.until("the flag", [&] { return flag(3) == 2; });
  EXPECT_EQ(flag(1), 0u);
  EXPECT_EQ(machine.load(0, reg::errors), 8u);
}

TEST_P(Errors, BehindAPoisonedPartTheOthersComeAsTheyShould) {
  mark();
  machine[0].host.shuffled = true;
  spoil(1, [](Tlp& tlp) { return tlp.poisoned = true; });
  expect_stop(poisoned, {put(1, 4000)});
  EXPECT_EQ(machine.load(0, reg::errors), 0u);
}

// Registers that are written while their word is on its way out leave it whole.
TEST_P(Errors, RegistersOfTheEndMayBeClearedAtAnyMoment) {
  for (std::uint64_t wait = 0; wait < 40; ++wait) {
    machine.store64(0, reg::msi_address, 0x1000);
    machine.store64(0, reg::channel(1) + reg::done, address(0, Target::host, Machine::done_offset(1)));
    std::vector<Descriptor> chain{put(1, 8)};
    chain[0].interrupts = true;
    machine.ring(0, 1, machine.place(0, chain, 8), wait + 1);
    for (std::uint64_t cycle = 0; cycle < 60 + wait; ++cycle) machine.cycle();
    machine.store64(0, reg::channel(1) + reg::done, 0);
    machine.store64(0, reg::msi_address, 0);
    machine.until("rest", [&] { return machine.idle(); });
  }
  EXPECT_FALSE(machine[0].host.interrupts.empty());
}

TEST_P(Errors, OfDescriptorsStopTheirChannel) {
  const auto changed = [](auto change) {
    Descriptor bad = put(1);
    change(bad);
    return std::vector{put(1, 8), bad, put(1)};
  };
  const auto flagless = [&](auto change) {
    std::vector<Descriptor> chain = changed(change);
    chain[0].flag.reset();
    return chain;
  };
  expect_stop(length, flagless([](Descriptor& d) { d.loops[1].count = 0; }));
  expect_stop(length, flagless([](Descriptor& d) { d.run = 1U << 31; }));
  expect_stop(misaddressed, flagless([](Descriptor& d) { d.source = address(1, Target::host, 0); }));
  expect_stop(misaddressed, flagless([](Descriptor& d) { d.source = address(0, Target::hub, 0); }));
  expect_stop(misaddressed, flagless([](Descriptor& d) { d.source &= ~(1ULL << 39); }));
  expect_stop(misaddressed, flagless([](Descriptor& d) { d.destination = address(9, Target::host, 0); }));
  expect_stop(misaddressed, flagless([](Descriptor& d) { d.flag = address(1, Target::host, flags + 4); }));
  expect_stop(misaddressed, flagless([](Descriptor& d) { d.flag = 64; }));
  expect_stop(misaddressed, flagless([](Descriptor& d) { d.loops[0] = {2, 0, -0x40000000}; }));
  EXPECT_EQ(where, reg::memory + 64 * (first_slot + 1));
}

TEST_P(Errors, OfFetchesStopTheirChannel) {
  expect_stop(unfetched, address(0, Target::hub, reg::memory + 32));
  expect_stop(unfetched, address(0, Target::hub, reg::memory + (1 << 20)));
  expect_stop(unfetched, address(0, Target::hub, 0));
  expect_stop(unfetched, address(1, Target::host, 0));
  const std::uint64_t in_host = machine.place(0, {put(1)}, 8, true);
  machine[0].host.on_completion = [](Tlp& tlp) {
    return tlp.tag < 128 || (tlp = without_data(tlp, 1), true);
  };
  expect_stop(unfetched, in_host);
  machine[0].host.on_completion = [](Tlp& tlp) { return tlp.tag < 128; };
  expect_stop(unfetched, in_host);
}

TEST_P(Errors, ADoorbellWhileTheChannelRuns) {
  const std::uint64_t chain = machine.place(0, {put(1, 4000), put(1, 4000)});
  machine.ring(0, 1, chain, 1);
  machine.ring(0, 1, chain, 2);
  machine.done(0, 1, 1, busy);
  EXPECT_EQ(flag(1), 0u);
}

TEST_P(Errors, TwoAtOnce) {
  mark();
  machine[0].host.on_completion = [](Tlp& tlp) { return !marked(tlp); };
  machine.ring(0, 1, machine.place(0, {put(1)}, 0), 1);
  machine.ring(0, 3, machine.place(0, {put(3), {.source = 0, .destination = 0, .run = 1}}, 8), 1);
  machine.ring(0, 2, address(0, Target::gpu0, 8), 1);
  machine.done(0, 1, 1, silent);
  machine.done(0, 3, 1, misaddressed);
  machine.done(0, 2, 1, unfetched);
}

// Whatever goes wrong with whichever answers, each chain ends, and each channel serves again.
TEST_P(Errors, InAnyNumberLetEachChainEnd) {
  const Seed seed;
  SCOPED_TRACE(seed.how_to_repeat());
  std::mt19937_64 random(seed.value());
  machine.store(0, reg::timeout, 2000);  // longer than the answers of all tags take
  machine[0].host.shuffled = true;
  bool spoils = true;
  machine[0].host.on_completion = [&](Tlp& tlp) {
    if (!spoils || random() % 24 != 0) return true;
    switch (random() % 5) {
      case 0:
        tlp = without_data(tlp, 1);
        return true;
      case 1:
        tlp = without_data(tlp, 4);
        return true;
      case 2:
        return tlp.poisoned = true;
      case 3:
        ++tlp.byte_count;
        return true;
      default:
        return false;
    }
  };
  std::size_t stopped = 0;
  for (std::uint64_t step = 1; step <= 12; ++step) {
    spoils = step < 12;
    for (std::uint64_t channel = 0; channel < 4; ++channel) {
      const std::vector<Descriptor> chain(3, put(channel));
      machine.ring(0, channel, machine.place(0, chain, 8 * channel, random() % 2 == 0), step);
    }
    for (std::uint64_t channel = 0; channel < 4; ++channel) {
      std::uint64_t word = 0;
      machine.until("the end of channel " + std::to_string(channel), [&] {
        word = machine[0].host.word(Machine::done_offset(channel));
        return (word & 0xffffffff) == step;
      });
      if (word != step) ++stopped;
      if (!spoils) {
        EXPECT_EQ(word, step);
      }
    }
    machine.until("rest", [&] { return machine.idle(); });
    for (std::uint64_t channel = 0; channel < 4; ++channel)
      machine.store(0, reg::channel(channel) + reg::status, 2);
  }
  EXPECT_GT(stopped, 0u);
}

TEST_P(Errors, OfAccessesAreKept) {
  const auto expect_error = [&](std::uint32_t bit) {
    machine.until("rest", [&] { return machine.idle(); });
    EXPECT_EQ(machine.load(0, reg::errors), 1U << bit);
    machine.store(0, reg::errors, ~0U);
    EXPECT_EQ(machine.load(0, reg::errors), 0u);
  };
  machine[0].host.send(write64(address(9, Target::host, 0), 1));
  expect_error(0);
  Tlp spoilt = write64(address(0, Target::hub, reg::config), 0);
  spoilt.poisoned = true;
  machine[0].host.send(spoilt);
  expect_error(1);
  machine.store(0, 0x10000, 1);
  expect_error(2);
  machine.store(0, reg::config, 0);
  expect_error(2);
  Tlp answer = without_data({}, 0);
  answer.kind = Tlp::Kind::completion;
  machine[0].host.send(answer);
  expect_error(3);
  machine[0].host.send(write64(0x1000, 1));
  expect_error(4);
}

TEST_P(Errors, OfReadsAreAnswered) {
  const auto status = [&](std::uint64_t where, std::uint32_t bytes) {
    machine[0].host.answers.clear();
    machine[0].host.send(request(Tlp::Kind::read, where, bytes, 3));
    machine.until("an answer", [&] { return machine[0].host.answers.contains(3); });
    return machine[0].host.answers.at(3).status;
  };
  EXPECT_EQ(status(address(1, Target::host, 0), 4), 1u);
  EXPECT_EQ(status(address(0, Target::host, 0), 4), 1u);
  EXPECT_EQ(status(address(0, Target::hub, 0), 64), 4u);
  EXPECT_EQ(status(address(0, Target::hub, 0), 16), 0u);
}

}  // namespace
}  // namespace tca::test
