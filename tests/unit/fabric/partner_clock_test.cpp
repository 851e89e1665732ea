// Tests what two ranks find out about each other's clocks by their stamps.
#include "fabric/partner_clock.hpp"

#include <gtest/gtest.h>

#include <random>

#include "seed.hpp"

namespace tca::test {
namespace {

using fabric::PartnerClock;
using fabric::Stamp;

constexpr std::int64_t crossing = 700, skew = 123'456'789;

// A rank with a clock of its own, that looks for its partner's stamps until they come.
struct Rank {
  std::int64_t skew = 0;  // what its clock is ahead
  double drift = 0;       // and gets ahead, of a second
  std::int64_t started = 0, started_before = 0, seen = 0;
  PartnerClock clock = {};

  std::int64_t own(std::int64_t time) const {
    return time + skew + static_cast<std::int64_t>(static_cast<double>(time) * drift);
  }
};

// Has both begin a step at these times, and each see the other's stamp when it comes.
void step(Rank& a, std::int64_t a_starts, Rank& b, std::int64_t b_starts, std::int64_t late = 0) {
  const auto begin = [](Rank& rank, std::int64_t time) {
    rank.started_before = std::exchange(rank.started, rank.own(time));
    return Stamp{rank.started, rank.seen != 0 ? rank.started - rank.seen : 0};
  };
  const Stamp of_a = begin(a, a_starts), of_b = begin(b, b_starts);
  a.seen = a.own(b_starts + crossing + late);
  b.seen = b.own(a_starts + crossing + late);
  a.clock.see(of_b, a.seen, a.started_before);
  b.clock.see(of_a, b.seen, b.started_before);
}

TEST(PartnerClock, KnowsNothingBeforeAStamp) { EXPECT_FALSE(PartnerClock().here(1)); }

TEST(PartnerClock, CountsTheCrossingAsLatenessWhereNothingGoesBack) {
  PartnerClock clock;

  clock.see({.started = 1'000}, 1'000 + skew + crossing, 0);

  EXPECT_EQ(clock.crossing(), 0);
  EXPECT_EQ(clock.here(1'000), 1'000 + skew + crossing);
}

TEST(PartnerClock, LearnsCrossingAndSkewFromStampsBothWays) {
  Rank a, b{.skew = skew};

  step(a, 10'000, b, 12'000);
  step(a, 20'000, b, 19'000);

  EXPECT_EQ(a.clock.crossing(), crossing);
  EXPECT_EQ(b.clock.crossing(), crossing);
  EXPECT_EQ(b.clock.here(a.own(30'000)), b.own(30'000));
  EXPECT_EQ(a.clock.here(b.own(30'000)), a.own(30'000));
}

// Neither late stamps nor clocks that run apart, by 100 us a second, spoil it for steps that follow each other.
TEST(PartnerClock, StaysRightWithLateStampsAndDriftingClocks) {
  const Seed seed;
  SCOPED_TRACE(seed.how_to_repeat());
  std::mt19937 random(seed.value());
  Rank a, b{.skew = -skew, .drift = 100e-6};
  std::int64_t time = 1'000'000;

  for (int i = 0; i < 20'000; ++i) {
    const std::int64_t late = i % 4 == 0 ? 0 : static_cast<std::int64_t>(random() % 3'000);
    step(a, time, b, time + static_cast<std::int64_t>(random() % 5'000), late);
    time += 20'000;
  }

  EXPECT_NEAR(static_cast<double>(*b.clock.here(a.own(time)) - b.own(time)), 0, 150);
  EXPECT_NEAR(static_cast<double>(*a.clock.here(b.own(time)) - a.own(time)), 0, 150);
}

}  // namespace
}  // namespace tca::test
