// Tests the direct protocol between ranks of several parts, and chains that mix it with ll. Nothing lands
// before the receiver permits it, and all bytes have landed once their signal has.
#include <gtest/gtest.h>

#include "carriers.hpp"

namespace tca::test {
namespace {

DevicePut stores(int from, int to, Word segments = 5) {
  return {.from = from,
          .to = to,
          .carrier = Carrier::stores,
          .run_bytes = 72,
          .counts = {5},
          .segments = segments};
}

// Only the receiver's permission keeps the sender from running ahead.
TEST_P(Carriers, OneWay) {
  DeviceRanks ranks(2, {stores(0, 1)});
  EXPECT_EQ(run(ranks, {2, 3}), "");
}

// The one part that has something to read gives all permissions, however often the other parts have started.
TEST_P(Carriers, PartsToWhichNothingIsSent) {
  DeviceRanks ranks(2, {stores(0, 1, 1)});
  EXPECT_EQ(run(ranks, {2, 4}), "");
}

TEST_P(Carriers, Mutual) {
  DeviceRanks ranks(2, {stores(0, 1), stores(1, 0, 3)});
  EXPECT_EQ(run(ranks, {3, 2}), "");
}

TEST_P(Carriers, RingOfThree) {
  DeviceRanks ranks(3, {stores(0, 1), stores(1, 2), stores(2, 0)});
  EXPECT_EQ(run(ranks, {2, 1, 2}), "");
}

TEST_P(Carriers, OneSendsToAllAndOneHearsFromAll) {
  DeviceRanks ranks(4, {stores(0, 1), stores(0, 2), stores(0, 3), stores(1, 3), stores(2, 3)});
  EXPECT_EQ(run(ranks, {1, 2, 1, 2}, thousands / 2), "");
}

TEST_P(Carriers, ToItself) {
  DeviceRanks ranks(1, {stores(0, 0)});
  EXPECT_EQ(run(ranks, {3}), "");
}

TEST_P(Carriers, MorePutsThanTheParametersHold) {
  std::vector<DevicePut> puts;
  for (Word i = 0; i < 10; ++i) puts.push_back(stores(0, 1, 1 + i % 3));
  for (int from = 1; from < 4; ++from) puts.push_back(stores(from, 0));
  DeviceRanks ranks(4, puts);
  EXPECT_EQ(run(ranks, {3, 2, 1, 1}, thousands / 4), "");
}

// A bare signal says only that the step has come this far, and needs no permission.
TEST_P(Carriers, SignalsBesidePuts) {
  const DevicePut signal{.from = 0, .to = 1, .carrier = Carrier::signal};
  DeviceRanks ranks(2, {signal, stores(0, 1), stores(1, 0), signal});
  EXPECT_EQ(run(ranks, {2, 2}), "");
}

TEST_P(Carriers, StepsWrap) {
  DeviceRun how = GetParam();
  how.first_step = ~Word{0} - 500;
  how.parts = {2, 2};
  DeviceRanks ranks(2, {stores(0, 1), stores(1, 0, 1)}, how.first_step);
  EXPECT_EQ(ranks.run(how), "");
}

TEST_P(Carriers, AtomsOfAnySize) {
  for (const Word atom : {1u, 2u, 4u, 8u, 16u}) {
    DevicePut put = stores(0, 1, 4);
    put.from_atom = put.to_atom = atom;
    put.run_bytes = 7 * atom;  // 35 atoms, so that the last segment is short
    DeviceRanks ranks(2, {put});
    ASSERT_EQ(run(ranks, {1, 2}, 400), "") << atom;
  }
}

TEST_P(Carriers, RandomTraffic) {
  std::mt19937 random(seed_.value());
  constexpr Carrier any_of[] = {Carrier::stores, Carrier::stores, Carrier::packets, Carrier::signal};
  for (int round = 0; round < 20; ++round) {
    const Word count = random_in(random, 2, 4);
    const auto any_rank = [&] { return static_cast<int>(random_in(random, 0, count - 1)); };
    std::vector<DevicePut> puts;
    for (Word i = random_in(random, 1, 9); i > 0; --i) {
      puts.push_back(random_device_put(random, any_rank(), any_rank(), any_of[random_in(random, 0, 3)]));
    }
    std::vector<Word> parts;
    for (Word rank = 0; rank < count; ++rank) parts.push_back(random_in(random, 1, 3));
    DeviceRanks ranks(static_cast<int>(count), puts);
    ASSERT_EQ(run(ranks, parts, 200), "") << "round " << round;
  }
}

const DeviceRun each_part_for_itself{};
const DeviceRun whole_grid{.whole_grid = true};
const DeviceRun of_lanes{.lanes = 3};
const DeviceRun tries{.tries = true};

std::string name_of(const testing::TestParamInfo<DeviceRun>& run) {
  if (run.param.lanes > 1) return "PartsOfLanes";
  if (run.param.tries) return "Tries";
  return run.param.whole_grid ? "WholeGrid" : "EachPartForItself";
}

INSTANTIATE_TEST_SUITE_P(DeviceStores, Carriers,
                         testing::Values(each_part_for_itself, whole_grid, of_lanes, tries), name_of);

}  // namespace
}  // namespace tca::test
