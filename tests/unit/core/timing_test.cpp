// Tests the buckets of times, what is made of them, and who asks for them.
#include "tca/timing.hpp"

#include <gtest/gtest.h>

#include <cstdlib>
#include <limits>

#include "tca/tca.hpp"

namespace tca::test {
namespace {

TEST(TimeDistribution, EveryTimeIsInTheBucketThatItsBoundsSay) {
  EXPECT_EQ(TimeDistribution::bucket_of(-5), 0);
  EXPECT_EQ(TimeDistribution::bucket_of(15), 1);
  EXPECT_EQ(TimeDistribution::bucket_of(std::numeric_limits<std::int64_t>::max()), 63);
  for (int bucket = 1; bucket < TimeDistribution::bucket_count; ++bucket) {
    const std::int64_t lowest = TimeDistribution::lower_bound_ns(bucket);
    EXPECT_EQ(TimeDistribution::bucket_of(lowest), bucket);
    EXPECT_EQ(TimeDistribution::bucket_of(lowest - 1), bucket - 1);
  }
}

TEST(TimeDistribution, KeepsExtremesExactlyAndQuantilesByBuckets) {
  TimeDistribution times;
  EXPECT_EQ(times.median_us(), 0);

  for (int us = 1; us <= 1000; ++us) times.add(us * 1000);

  EXPECT_EQ(times.count(), 1000u);
  EXPECT_DOUBLE_EQ(times.minimum_us(), 1);
  EXPECT_DOUBLE_EQ(times.maximum_us(), 1000);
  EXPECT_DOUBLE_EQ(times.total_us(), 500500);
  EXPECT_NEAR(times.median_us(), 500, 10);
  EXPECT_NEAR(times.p99_us(), 990, 10);
  EXPECT_DOUBLE_EQ(times.quantile_us(0), 1);
  EXPECT_LE(times.quantile_us(1), 1000);
}

TEST(TimeDistribution, ASingleTimeIsEveryQuantile) {
  for (const std::int64_t ns : {std::int64_t{0}, std::int64_t{17}, std::int64_t{100'000'000'000}}) {
    TimeDistribution times;
    times.add(ns);
    for (const double fraction : {0.0, 0.5, 0.99, 1.0})
      EXPECT_DOUBLE_EQ(times.quantile_us(fraction), static_cast<double>(ns) * 1e-3);
  }
}

Timing timing_of(const WorldOptions& options, const ChainOptions& chain_options = {}) {
  Timing timing;
  World::run_threads(
      1,
      [&](World& world) {
        Chain chain = world.chain("self", chain_options);
        chain.signal(0).expect(0).commit();
        chain.run();
        timing = chain.timing();
      },
      options);
  return timing;
}

TEST(Timing, IsAskedForByChainWorldAndEnvironment) {
  EXPECT_FALSE(timing_of({}).timed);
  EXPECT_TRUE(timing_of({}, {.timed = true}).timed);
  EXPECT_EQ(timing_of({.timing = true}).messages.at(0).there_at_once, 1u);
  setenv("OPENTCA_TIMING", "1", 1);
  EXPECT_TRUE(timing_of({}).timed);
  setenv("OPENTCA_TIMING", "0", 1);
  EXPECT_FALSE(timing_of({.timing = true}).timed);
  setenv("OPENTCA_TIMING", "often", 1);
  EXPECT_THROW(timing_of({}), Error);
  unsetenv("OPENTCA_TIMING");
}

TEST(Timing, SaysWhyThereIsNone) {
  EXPECT_EQ(Timing{.chain = "u"}.describe(),
            "chain 'u' is not timed; ask for it before the commit: option timed of the chain, option timing "
            "of the world, or "
            "OPENTCA_TIMING=1\n");
  EXPECT_EQ((Timing{.chain = "u", .timed = true}.describe()),
            "chain 'u' is timed, and nobody sends to this rank\n");
}

TEST(Timing, CountsMessagesWithoutTimes) {
  const Timing timing{
      .chain = "u", .timed = true, .messages = {{.from = 1, .fabric = "cuda", .count = 7, .untimed = 2}}};

  EXPECT_NE(timing.describe().find("  and 2 messages without times (tca/timing.hpp)\n"), std::string::npos)
      << timing.describe();
  EXPECT_NE(timing.json().find(R"("count":7,"untimed":2,)"), std::string::npos) << timing.json();
}

TEST(Timing, TellsBucketsAsJson) {
  Timing timing{.chain = "u", .timed = true, .messages = {{.from = 3, .fabric = "shm", .count = 2}}};
  timing.messages[0].waiting.add(0);
  timing.messages[0].waiting.add(33);

  const std::string json = timing.json();

  EXPECT_NE(json.find(R"("chain":"u","timed":true,"messages":[{"from":3,"fabric":"shm")"), std::string::npos)
      << json;
  EXPECT_NE(json.find(R"("buckets":[[0,1],[32,1]])"), std::string::npos) << json;
}

}  // namespace
}  // namespace tca::test
