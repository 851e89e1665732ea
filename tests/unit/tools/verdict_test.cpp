// Tests what measured times allow one to say, and how the places of ranks are described.
#include "measure/verdict.hpp"

#include <gtest/gtest.h>

#include <vector>

#include "measure/placement.hpp"

namespace tca::bench {
namespace {

TEST(Spread, LeavesOutAQuarterAtEitherEnd) {
  const Spread spread = spread_of({8, 1, 7, 2, 6, 3, 5, 4});
  EXPECT_EQ(spread.low, 2);
  EXPECT_EQ(spread.median, 4.5);
  EXPECT_EQ(spread.high, 7);
}

TEST(Spread, IsTheWholeRangeOfAFew) {
  EXPECT_EQ(spread_of({5}).low, 5);
  EXPECT_EQ(spread_of({5}).high, 5);
  EXPECT_EQ(spread_of({3, 1, 2, 5, 4}).low, 1);
  EXPECT_EQ(spread_of({3, 1, 2, 5, 4}).high, 5);
  EXPECT_EQ(spread_of({}).high, 0);
}

TEST(BelowTheNoise, IsACostThatAQuarterOfTheRoundsDeny) {
  EXPECT_FALSE(is_below_noise({1, 1, 1, 1}));
  EXPECT_TRUE(is_below_noise({-1, 1, 2, 3}));
  EXPECT_TRUE(is_below_noise({-1, -1, 2, 3, 4, 5, 6, 7}));
  EXPECT_FALSE(is_below_noise({-1, 1, 2, 3, 4, 5, 6, 7}));
  EXPECT_TRUE(is_below_noise({0}));
}

TEST(Ratio, IsTakenRoundByRound) {
  const auto ratio = ratio_by_round({30, 6, 4, 9, 3}, {10, 2, 1, 3, 1});
  ASSERT_TRUE(ratio);
  EXPECT_EQ(ratio->median, 3);
  EXPECT_EQ(ratio->low, 3);
  EXPECT_EQ(ratio->high, 4);
  EXPECT_EQ(to_string(*ratio), "3.00 (3.00 to 4.00)");
}

TEST(Ratio, IsNoneOfWhatIsBelowTheNoise) {
  EXPECT_FALSE(ratio_by_round({2, 2, 2}, {-1, 1, 1}));
  EXPECT_FALSE(ratio_by_round({-1, 1, 1}, {2, 2, 2}));
  EXPECT_FALSE(ratio_by_round({}, {}));
}

TEST(Ratio, LeavesOutRoundsInWhichOneTookNoTime) {
  const auto ratio = ratio_by_round({-1, 2, 2, 2, 2, 2, 2, 2}, {1, 1, 1, 1, 1, 1, 1, 1});
  ASSERT_TRUE(ratio);
  EXPECT_EQ(ratio->low, 2);
}

TEST(Ratio, IsNotSaidWhereItDoesNotExceedItsSpread) {
  EXPECT_EQ(to_string(Spread{0.9, 1.05, 1.2, 9}), "same within the spread");
  EXPECT_EQ(to_string(Spread{1.01, 1.05, 1.2, 9}), "1.05 (1.01 to 1.20)");
  EXPECT_EQ(to_string(Spread{0.7, 0.8, 0.99, 9}), "0.80 (0.70 to 0.99)");
  EXPECT_EQ(to_string(Spread{0.0031, 0.0042, 0.02, 9}), "0.0042 (0.0031 to 0.02)");
}

TEST(Ratio, OfAFewRoundsTellsNothing) {
  const auto ratio = ratio_by_round({2, 2, 2, 2}, {1, 1, 1, 1});
  ASSERT_TRUE(ratio);
  EXPECT_EQ(to_string(*ratio), "2.00, too few rounds to tell");
}

TEST(Bandwidth, IsThatOfWhatMovesBytesAllTheTime) {
  for (const char* bench : {"pingpong", "halo", "put", "bcast", "allreduce"})
    EXPECT_TRUE(has_bandwidth(bench));
  for (const char* bench : {"barrier", "commit", "overlap", "himeno", "qcd_cg"})
    EXPECT_FALSE(has_bandwidth(bench));
}

TEST(Placement, SaysWhatTheRanksShare) {
  const Place first{.first = 0, .core = 0, .cache = 0};
  const Place thread{.first = 4, .core = 0, .cache = 0};
  const Place near{.first = 1, .core = 1, .cache = 0};
  const Place far{.first = 8, .core = 8, .cache = 8};
  const Place other{.first = 64, .core = 0, .cache = 64, .socket = 1};
  EXPECT_EQ(describe(std::vector{first}),
            "1 rank, bound to processor 0: 1 core, 1 last-level cache, 1 socket");
  EXPECT_EQ(describe(std::vector{first, thread}),
            "2 ranks, bound to processors 0 and 4: 1 core, 1 last-level cache, 1 socket");
  EXPECT_EQ(describe(std::vector{first, near}),
            "2 ranks, bound to processors 0 and 1: 2 cores, 1 last-level cache, 1 socket");
  EXPECT_EQ(describe(std::vector{first, near, far, other}),
            "4 ranks, bound to processors 0, 1, 8 and 64: 4 cores, 3 last-level caches, 2 sockets");
  EXPECT_EQ(describe(std::vector(9, first)),
            "9 ranks, bound to a processor each: 1 core, 1 last-level cache, 1 socket");
}

TEST(Placement, SaysWhereRanksAreNotBoundAndOnHowManyHosts) {
  const Place here{.processors = 16}, there{.host = 1, .processors = 16};
  EXPECT_EQ(describe(std::vector{here, here}), "2 ranks, not bound, 16 processors to run on");
  EXPECT_EQ(describe(std::vector{here, there}), "2 ranks, not bound, 16 processors to run on, 2 hosts");
  EXPECT_EQ(describe(std::vector{Place{}, Place{.host = 1}}),
            "2 ranks, bound to a processor each: 2 cores, 2 last-level caches, 2 sockets, 2 hosts");
}

TEST(Placement, CountsTheProcessors) {
  const Place any{.processors = 2};
  EXPECT_EQ(processors_of({any, any, any, any}), 2);
  EXPECT_EQ(processors_of({Place{.first = 0}, Place{.first = 1}, Place{.first = 0}}), 2);
  EXPECT_EQ(processors_of({Place{.first = 0}, Place{.host = 1, .first = 0}}), 2);
  EXPECT_EQ(processors_of({any, Place{.host = 1, .processors = 4}}), 6);
}

TEST(Placement, OfThisProcessHasAProcessor) {
  const Place place = own_place();
  EXPECT_GE(place.processors, 1);
  EXPECT_GE(place.first, 0);
}

}  // namespace
}  // namespace tca::bench
