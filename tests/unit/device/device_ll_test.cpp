// Tests the ll protocol between ranks of several parts: every chunk arrives whole, in its step and in its
// place.
#include <gtest/gtest.h>

#include "carriers.hpp"

namespace tca::test {
namespace {

DevicePut packets(int from, int to, Word run_bytes = 72, Word count = 15) {  // three chunks
  return {.from = from, .to = to, .run_bytes = run_bytes, .counts = {count}};
}

// Only the acknowledgements keep the sender from running ahead.
TEST_P(Carriers, OneWay) {
  DeviceRanks ranks(2, {packets(0, 1)});
  EXPECT_EQ(run(ranks, {2, 3}), "");
}

TEST_P(Carriers, Mutual) {
  DeviceRanks ranks(2, {packets(0, 1), packets(1, 0, 40, 33)});
  EXPECT_EQ(run(ranks, {3, 2}), "");
}

TEST_P(Carriers, RingOfThree) {
  DeviceRanks ranks(3, {packets(0, 1), packets(1, 2), packets(2, 0)});
  EXPECT_EQ(run(ranks, {2, 1, 2}), "");
}

TEST_P(Carriers, OneSendsToAllAndOneHearsFromAll) {
  DeviceRanks ranks(4, {packets(0, 1), packets(0, 2), packets(0, 3), packets(1, 3), packets(2, 3)});
  EXPECT_EQ(run(ranks, {1, 2, 1, 2}, thousands / 2), "");
}

TEST_P(Carriers, ToItself) {
  DeviceRanks ranks(1, {packets(0, 0)});
  EXPECT_EQ(run(ranks, {3}), "");
}

TEST_P(Carriers, MorePutsThanTheParametersHold) {
  std::vector<DevicePut> puts;
  for (Word i = 0; i < 10; ++i) puts.push_back(packets(0, 1, 24 + 8 * i, 1 + i));
  puts.push_back(packets(1, 0));
  DeviceRanks ranks(2, puts);
  EXPECT_EQ(run(ranks, {3, 2}, thousands / 2), "");
}

TEST_P(Carriers, StepsWrap) {
  DeviceRun how = GetParam();
  how.first_step = ~Word{0} - 500;
  how.parts = {2, 2};
  DeviceRanks ranks(2, {packets(0, 1), packets(1, 0, 8, 1)}, how.first_step);
  EXPECT_EQ(ranks.run(how), "");
}

// The two ends may see the same bytes as atoms of different sizes, and the last packet may be only partly
// full.
TEST_P(Carriers, AtomsOfAnySizeAtEitherEnd) {
  for (const Word from : {1u, 2u, 4u, 8u}) {
    for (const Word to : {1u, 2u, 4u, 8u}) {
      DevicePut put = packets(0, 1, 7 * std::max(from, to), 9);
      put.from_atom = from;
      put.to_atom = to;
      DeviceRanks ranks(2, {put});
      ASSERT_EQ(run(ranks, {1, 2}, 200), "") << "from " << from << " to " << to;
    }
  }
}

TEST_P(Carriers, RandomTraffic) {
  std::mt19937 random(seed_.value());
  for (int round = 0; round < 20; ++round) {
    const Word count = random_in(random, 2, 4);
    const auto any_rank = [&] { return static_cast<int>(random_in(random, 0, count - 1)); };
    std::vector<DevicePut> puts;
    for (Word i = random_in(random, 1, 9); i > 0; --i) {
      puts.push_back(random_device_put(random, any_rank(), any_rank(), Carrier::packets));
    }
    std::vector<Word> parts;
    for (Word rank = 0; rank < count; ++rank) parts.push_back(random_in(random, 1, 3));
    DeviceRanks ranks(static_cast<int>(count), puts);
    ASSERT_EQ(run(ranks, parts, 200), "") << "round " << round;
  }
}

const DeviceRun each_part_for_itself{};
const DeviceRun whole_grid{.whole_grid = true};
const DeviceRun shared_by_lanes{.lanes = 3, .lanes_share = true};
const DeviceRun units_of_lanes{.lanes = 2};
const DeviceRun tries{.tries = true};

std::string name_of(const testing::TestParamInfo<DeviceRun>& run) {
  const DeviceRun& how = run.param;
  if (how.lanes > 1) return how.lanes_share ? "ChunksSharedByLanes" : "ALaneAChunk";
  if (how.tries) return "Tries";
  return how.whole_grid ? "WholeGrid" : "EachPartForItself";
}

INSTANTIATE_TEST_SUITE_P(DeviceLl, Carriers,
                         testing::Values(each_part_for_itself, whole_grid, shared_by_lanes, units_of_lanes,
                                         tries),
                         name_of);

}  // namespace
}  // namespace tca::test
