// Tests the pairing of a put's two layouts, and the intersection of the bytes of two puts.
#include "base/layout/shape.hpp"

#include <numeric>

#include "base/layout/region.hpp"
#include "base/nontemporal.hpp"
#include "messages.hpp"

namespace tca::test {
namespace {

using base::Region;
using base::Shape;

struct Expected {
  std::uint64_t run;
  std::vector<Shape::Loop> loops;
};

void expect_shape(const Shape& shape, const Expected& expected) {
  EXPECT_EQ(shape.run, expected.run);
  EXPECT_TRUE(
      std::vector(shape.loops.begin(), shape.loops.begin() + static_cast<std::ptrdiff_t>(shape.loop_count)) ==
      expected.loops);
}

TEST(PairUp, EqualBlocksAreOneRun) { expect_shape(base::pair_up(block(6), block(6), 8), {48, {}}); }

TEST(PairUp, EqualLayoutsKeepTheirLoops) {
  const Layout rows = block_stride(3, 4, 10);
  expect_shape(base::pair_up(rows, rows, 2), {8, {{3, 20, 20}}});
}

TEST(PairUp, GathersAndScatters) {
  expect_shape(base::pair_up(block(6), stride(6, 5), 4), {4, {{6, 4, 20}}});
  expect_shape(base::pair_up(stride(6, 5), block(6), 4), {4, {{6, 20, 4}}});
}

TEST(PairUp, RowsAsFarApartAsTheyCanBe) {
  constexpr std::int64_t far = std::int64_t{1} << 62;
  expect_shape(base::pair_up(block_stride(2, 1, far), block(2), 1), {1, {{2, far, 1}}});
}

TEST(PairUp, SplitsTheCoarserSide) {
  // Two rows of six and four rows of three: the same twelve elements, in runs that both sides have.
  expect_shape(base::pair_up(block_stride(2, 6, 10), block_stride(4, 3, 5), 1),
               {3, {{2, 3, 5}, {2, 10, 10}}});
}

TEST(PairUp, AFullSideAndAnInnerBox) {
  expect_shape(base::pair_up(subarray({8, 4}, {2, 0}, {6, 4}), subarray({9, 7}, {1, 2}, {6, 4}), 8),
               {32, {{6, 32, 56}}});
}

TEST(PairUp, RefusesDifferentNumbersOfElements) {
  EXPECT_TRUE(refuses(Errc::invalid_argument, {"5 elements cannot fill 6"},
                      [] { base::pair_up(block(6), block(5), 1); }));
}

TEST(PairUp, RefusesRowsThatDoNotLineUp) {
  EXPECT_TRUE(refuses(Errc::invalid_argument,
                      {"block-stride of 2 rows of 6", "block-stride of 3 rows of 4", "do not line up"},
                      [] { base::pair_up(block_stride(2, 6, 9), block_stride(3, 4, 9), 1); }));
}

TEST(PairUp, RefusesMoreLoopsThanThereAre) {
  EXPECT_TRUE(refuses(Errc::invalid_argument, {"more than 3", "split the put"}, [] {
    base::pair_up(subarray({3, 5, 7, 9}, {0, 0, 0, 0}, {2, 4, 4, 8}), block_stride(16, 16, 17), 1);
  }));
}

// Tests each run length that has a copy of its own, and some that have not.
TEST(Copy, EveryRunLength) {
  for (const std::size_t bytes : {1u, 2u, 3u, 4u, 8u, 12u, 16u, 24u, 32u, 33u, 64u, 65u}) {
    const Shape shape = base::pair_up(stride(5, 3), stride(5, 2), bytes);
    std::vector<std::byte> from(9 * bytes), to(13 * bytes), expected(13 * bytes);
    for (std::size_t i = 0; i < from.size(); ++i) from[i] = static_cast<std::byte>(i + 1);
    for (std::size_t k = 0; k < 5; ++k) std::copy_n(&from[2 * k * bytes], bytes, &expected[3 * k * bytes]);
    base::copy(to.data(), from.data(), shape);
    EXPECT_EQ(to, expected) << bytes;
  }
}

// The runs of the dense side are long enough for those to come to be prefetched.
TEST(Copy, LongRunsThroughADenseSide) {
  for (const std::size_t bytes : {65u, 512u, 1000u, 5000u}) {
    const Shape shape = base::pair_up(stride(7, 3), stride(7, 2), bytes);
    std::vector<std::byte> from(13 * bytes), dense(7 * bytes), to(19 * bytes), expected(19 * bytes);
    for (std::size_t i = 0; i < from.size(); ++i) from[i] = static_cast<std::byte>(i % 251 + 1);
    base::copy(expected.data(), from.data(), shape);
    EXPECT_EQ(base::gather(dense.data(), from.data(), shape), dense.data() + dense.size());
    EXPECT_EQ(base::scatter(to.data(), dense.data(), shape), dense.data() + dense.size());
    EXPECT_EQ(to, expected) << bytes;
  }
}

// Whole cache lines bypass the caches, wherever a run begins. The bytes around it stay unchanged.
TEST(Copy, PastTheCachesLikeAnyOther) {
  for (const std::size_t run : {1u, 63u, 255u, 256u, 257u, 320u, 1024u, 5000u}) {
    for (const std::size_t begins : {0u, 1u, 16u, 63u}) {
      const auto pitch = static_cast<std::int64_t>(run + 72);
      const Shape rows{run, 1, {{{3, pitch, pitch + 5}}}};
      std::vector<std::byte> from(3 * run + 400), plain(from.size(), std::byte{9}), past = plain;
      for (std::size_t i = 0; i < from.size(); ++i) from[i] = static_cast<std::byte>(i * 7 + i / 256);
      base::copy(&plain[begins], from.data(), rows);
      base::copy_nontemporal(&past[begins], from.data(), rows);
      base::nontemporal_fence();
      EXPECT_EQ(past, plain) << run << " at " << begins;
      if (!base::worth_nontemporal(rows)) continue;
      EXPECT_EQ(base::gather(&plain[begins], &from[3], rows), &plain[begins + 3 * run]);
      EXPECT_EQ(base::gather_nontemporal(&past[begins], &from[3], rows), &past[begins + 3 * run]);
      base::nontemporal_fence();
      EXPECT_EQ(past, plain) << run << " at " << begins;
    }
  }
}

// The parts together are the shape, in its order, and none is larger than the limit.
TEST(Split, PartsAreTheWholeInItsOrder) {
  const Layout box = subarray({9, 8, 7}, {0, 0, 0}, {5, 6, 3}),
               other = subarray({5, 9, 4}, {0, 0, 0}, {5, 6, 3});
  const Shape shape = base::pair_up(box, other, 2);
  std::vector<std::byte> from(2 * 5 * 9 * 4);
  for (std::size_t i = 0; i < from.size(); ++i) from[i] = static_cast<std::byte>(i + 1);
  std::vector<std::byte> expected(shape.bytes());
  base::gather(expected.data(), from.data(), shape);
  for (const std::uint64_t limit : {32u, 35u, 36u, 37u, 80u, 180u}) {
    std::vector<std::byte> dense(shape.bytes()), to(2 * 9 * 8 * 7), whole(to.size());
    std::byte* at = dense.data();
    for (const base::Part& part : base::split(shape, limit)) {
      EXPECT_LE(part.shape.bytes(), limit);
      at = base::gather(at, from.data() + part.from_shift, part.shape);
      base::copy(to.data() + part.to_shift, from.data() + part.from_shift, part.shape);
    }
    EXPECT_EQ(dense, expected) << limit;
    base::copy(whole.data(), from.data(), shape);
    EXPECT_EQ(to, whole) << limit;
  }
}

TEST(Split, KeepsSmallShapesWhole) {
  const Shape rows = base::pair_up(block_stride(100, 64, 256), block_stride(100, 64, 256), 1);
  const std::vector<base::Part> parts = base::split(rows, 6400);
  ASSERT_EQ(parts.size(), 1u);
  EXPECT_EQ(parts[0].shape, rows);
}

TEST(Split, CutsRunsIntoAlignedParts) {
  constexpr std::uint64_t most = std::uint64_t{1} << 31;
  Shape shape;
  shape.run = (std::uint64_t{5} << 30) + 3;
  std::int64_t next = 0;
  for (const base::Part& part : base::split(shape, most)) {
    EXPECT_EQ(part.to_shift, next);
    EXPECT_EQ(part.from_shift, next);
    EXPECT_EQ(part.to_shift % 16, 0);
    EXPECT_LE(part.shape.bytes(), most);
    next += static_cast<std::int64_t>(part.shape.run);
  }
  EXPECT_EQ(next, (std::int64_t{5} << 30) + 3);
}

TEST(Split, CutsTheOutermostLoop) {
  constexpr std::int64_t gibibyte = std::int64_t{1} << 30;
  const Layout rows = block_stride(5, gibibyte, 3 * gibibyte);
  std::int64_t count = 0;
  for (const base::Part& part : base::split(base::pair_up(rows, block(5 * gibibyte), 1), 2 * gibibyte)) {
    EXPECT_EQ(part.to_shift, count * 3 * gibibyte);
    EXPECT_EQ(part.from_shift, count * gibibyte);
    EXPECT_LE(part.shape.bytes(), std::uint64_t{2} * gibibyte);
    count += static_cast<std::int64_t>(part.shape.runs());
  }
  EXPECT_EQ(count, 5);
}

TEST(Interleave, TakesARunOfEachInTurn) {
  const auto both = base::interleave(base::pair_up(stride(5, 7), stride(5, 6), 4), 24, -8);
  ASSERT_TRUE(both);
  expect_shape(*both, {4, {{2, 24, -8}, {5, 28, 24}}});
}

TEST(Interleave, NotWhatLiesFurtherApartThanRows) {
  const Shape column = base::pair_up(stride(5, 7), stride(5, 6), 4);
  EXPECT_FALSE(base::interleave(column, 29, 4));
  EXPECT_FALSE(base::interleave(column, 4, -25));
}

TEST(Interleave, NotWhatFillsLinesOrHasNoLoopLeft) {
  EXPECT_FALSE(base::interleave(base::pair_up(block(5), block(5), 4), 24, 24));
  EXPECT_FALSE(base::interleave(base::pair_up(block_stride(5, 16, 32), block_stride(5, 16, 32), 4), 64, 64));
  const Layout box = subarray({9, 9, 9, 9}, {0, 0, 0, 0}, {3, 3, 3, 3});
  EXPECT_FALSE(base::interleave(base::pair_up(box, box, 4), 16, 16));
}

TEST(Region, ColumnsSideBySideDoNotMeet) {
  const Shape column = base::pair_up(stride(1'000'000, 1000), stride(1'000'000, 1000), 8);
  EXPECT_FALSE(base::intersect(Region::written(0, column), Region::written(8, column)));
  const auto meet = base::intersect(Region::written(8, column), Region::written(8 + 8'000'000, column));
  ASSERT_TRUE(meet);
  EXPECT_EQ(meet->begin, 8 + 8'000'000);
  EXPECT_EQ(meet->end, 16 + 8'000'000);
}

// A put's sides share their loops, of which a dense side shows nothing.
TEST(Region, SaysItsLayoutInElements) {
  const Shape gather = base::pair_up(block(12), block_stride(3, 4, 10), 8);
  EXPECT_EQ(Region::written(16, gather).describe(8), "block of 12");
  EXPECT_EQ(Region::read(0, gather).describe(8), "block-stride of 3 rows of 4, pitch 10");
  const Shape column = base::pair_up(stride(5, 6), stride(5, 6), 4);
  EXPECT_EQ(Region::written(0, column).describe(4), "stride of 5, pitch 6");
  const Layout box = subarray({5, 6, 7, 8}, {1, 2, 3, 4}, {2, 3, 2, 3});
  EXPECT_EQ(Region::written(0, base::pair_up(box, box, 2)).describe(2), "sub-array of 2 x 3 x 2 x 3");
}

TEST(Region, NamesTheBytesThatBothTouch) {
  const Shape ten = base::pair_up(block(10), block(10), 1);
  const auto meet = base::intersect(Region::written(5, ten), Region::read(12, ten));
  ASSERT_TRUE(meet);
  EXPECT_EQ(meet->begin, 12);
  EXPECT_EQ(meet->end, 15);
  EXPECT_FALSE(base::intersect(Region::written(5, ten), Region::written(15, ten)));
}

// These pitches do not divide one another, so the intersection is searched run by run.
TEST(Region, UnevenPitches) {
  const Shape threes = base::pair_up(stride(10, 3), stride(10, 3), 1),
              fives = base::pair_up(stride(6, 5), block(6), 1);
  EXPECT_TRUE(base::intersect(Region::written(1, threes), Region::written(0, fives)));  // 10 is in both
  const Shape sixes = base::pair_up(stride(5, 6), block(5), 1),
              nines = base::pair_up(stride(3, 9), block(3), 1);
  EXPECT_FALSE(base::intersect(Region::written(0, sixes), Region::written(1, nines)));
}

}  // namespace
}  // namespace tca::test
