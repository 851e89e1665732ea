// Tests layouts: the simplest form to which each reduces, and that every wrong count is refused where it is
// given.
#include "tca/layout.hpp"

#include <limits>

#include "messages.hpp"

namespace tca::test {
namespace {

constexpr std::int64_t largest = std::numeric_limits<std::int64_t>::max();

std::vector<Layout::Loop> loops(const Layout& layout) {
  return {layout.loops().begin(), layout.loops().end()};
}

using Loops = std::vector<Layout::Loop>;

TEST(Layout, BlockIsOneRun) {
  const Layout layout = block(7);
  EXPECT_EQ(layout.elements(), 7);
  EXPECT_EQ(layout.first(), 0);
  EXPECT_EQ(layout.end(), 7);
  EXPECT_EQ(layout.run(), 7);
  EXPECT_EQ(loops(layout), Loops{});
  EXPECT_EQ(layout.describe(), "block of 7");
}

TEST(Layout, BlockStrideIsRowsOfRuns) {
  const Layout layout = block_stride(3, 4, 10);
  EXPECT_EQ(layout.elements(), 12);
  EXPECT_EQ(layout.end(), 24);
  EXPECT_EQ(layout.run(), 4);
  EXPECT_EQ(loops(layout), (Loops{{3, 10}}));
  EXPECT_EQ(layout.describe(), "block-stride of 3 rows of 4, pitch 10");
}

TEST(Layout, StrideIsSingleElements) {
  const Layout layout = stride(5, 6);
  EXPECT_EQ(layout.elements(), 5);
  EXPECT_EQ(layout.end(), 25);
  EXPECT_EQ(loops(layout), (Loops{{5, 6}}));
  EXPECT_EQ(layout.describe(), "stride of 5, pitch 6");
}

TEST(Layout, SubarrayIsABoxInItsArray) {
  const Layout layout = subarray({5, 6, 7, 8}, {1, 2, 3, 4}, {2, 3, 2, 3});
  EXPECT_EQ(layout.elements(), 36);
  EXPECT_EQ(layout.first(), ((1 * 6 + 2) * 7 + 3) * 8 + 4);
  EXPECT_EQ(layout.end(), ((2 * 6 + 4) * 7 + 4) * 8 + 7);
  EXPECT_EQ(layout.run(), 3);
  EXPECT_EQ(loops(layout), (Loops{{2, 8}, {3, 56}, {2, 336}}));
  EXPECT_EQ(layout.describe(), "sub-array of 2 x 3 x 2 x 3");
}

TEST(Layout, OneDimensionalSubarrayIsABlock) {
  const Layout layout = subarray({10}, {4}, {3});
  EXPECT_EQ(layout.first(), 4);
  EXPECT_EQ(layout.run(), 3);
  EXPECT_EQ(loops(layout), Loops{});
}

TEST(Layout, RowsThatTouchBecomeOneRun) {
  EXPECT_EQ(block_stride(6, 4, 4).describe(), "block of 24");
  EXPECT_EQ(stride(6, 1).describe(), "block of 6");
  EXPECT_EQ(subarray({5, 4, 6}, {1, 0, 0}, {2, 4, 6}).describe(), "block of 48");
}

TEST(Layout, LoopsThatContinueEachOtherBecomeOne) {
  // Columns of full planes: the step from plane to plane is that to the next row.
  EXPECT_EQ(loops(subarray({5, 4, 6}, {1, 0, 2}, {3, 4, 2})), (Loops{{12, 6}}));
  EXPECT_EQ(loops(subarray({5, 4, 6}, {1, 1, 2}, {3, 1, 2})), (Loops{{3, 24}}));
}

TEST(Layout, SidesOfOneDisappear) {
  EXPECT_EQ(block_stride(1, 4, 100).describe(), "block of 4");
  EXPECT_EQ(stride(1, 100).describe(), "block of 1");
  EXPECT_EQ(loops(subarray({9, 9, 9}, {1, 1, 1}, {1, 1, 1})), Loops{});
}

TEST(Layout, MayBeEmpty) {
  for (const Layout& layout : {block(0), block_stride(0, 4, 0), block_stride(3, 0, 4), stride(0, 0),
                               subarray({0}, {0}, {0}), subarray({4, 4}, {0, 4}, {4, 0})}) {
    EXPECT_EQ(layout.elements(), 0);
    EXPECT_EQ(layout.first(), 0);
    EXPECT_EQ(layout.end(), 0);
    EXPECT_EQ(layout.describe(), "block of 0");
  }
}

TEST(Layout, RefusesNegativeCounts) {
  const auto refused = [](const std::function<void()>& make) {
    return refuses(Errc::invalid_argument, {"must be at least"}, make);
  };
  EXPECT_TRUE(refused([] { return block(-3); }));
  EXPECT_TRUE(refused([] { return block_stride(-1, 1, 1); }));
  EXPECT_TRUE(refused([] { return block_stride(1, -1, 1); }));
  EXPECT_TRUE(refused([] { return block_stride(1, 1, 0); }));
  EXPECT_TRUE(refused([] { return stride(-1, 1); }));
  EXPECT_TRUE(refused([] { return stride(1, -1); }));
  EXPECT_TRUE(refused([] { return subarray({-1}, {0}, {0}); }));
  EXPECT_TRUE(refused([] { return subarray({4, 4}, {0, 0}, {1, -1}); }));
  EXPECT_TRUE(
      refuses(Errc::invalid_argument, {"do not fit extent 0"}, [] { return subarray({0}, {0}, {1}); }));
}

TEST(Layout, RefusesMinusOneInAnUnsignedVariable) {
  EXPECT_TRUE(refuses(Errc::invalid_argument, {"block: the count", "fit 63 bits, not -"},
                      [] { return block(std::size_t(-1)); }));
  EXPECT_TRUE(refuses(Errc::invalid_argument, {"do not fit"},
                      [] { return subarray({4}, {static_cast<unsigned long>(-1)}, {1}); }));
  EXPECT_EQ(Count(4'000'000'000u).value(), 4'000'000'000);
  // No offset may turn such a count into a valid one.
  EXPECT_LT(Count(std::size_t{0} - 5).value() + largest, 0);
}

TEST(Layout, RefusesRowsThatOverlap) {
  EXPECT_TRUE(
      refuses(Errc::invalid_argument,
              {"block_stride: rows of 5 elements overlap when they start 4 apart", "pitch must be >= block"},
              [] { return block_stride(3, 5, 4); }));
}

TEST(Layout, RefusesABoxOutsideItsArray) {
  EXPECT_TRUE(
      refuses(Errc::invalid_argument, {"subarray: 3 elements from 2 do not fit extent 4 of dimension 1"}, [] {
        return subarray({9, 4}, {0, 2}, {1, 3});
      }));
  EXPECT_TRUE(refuses(Errc::invalid_argument, {"dimension 0"}, [] { return subarray({4}, {-1}, {2}); }));
  EXPECT_TRUE(refuses(Errc::invalid_argument, {"dimension 0"}, [] { return subarray({4}, {0}, {5}); }));
}

TEST(Layout, RefusesDimensionsThatDisagree) {
  const auto refused = [](const std::function<void()>& make) {
    return refuses(Errc::invalid_argument, {"same number of dimensions"}, make);
  };
  EXPECT_TRUE(refused([] { return subarray({4, 4}, {0}, {1, 1}); }));
  EXPECT_TRUE(refused([] { return subarray({4}, {0}, {1, 1}); }));
  EXPECT_TRUE(refused([] { return subarray(std::initializer_list<Count>{}, {}, {}); }));
}

// Whole dimensions are one piece with the next.
TEST(Layout, TakesWholeDimensionsTogether) {
  EXPECT_EQ(subarray({5, 3, 2, 6, 7, 2}, {1, 0, 0, 2, 0, 0}, {2, 3, 2, 1, 7, 2}).describe(),
            subarray({5, 6, 6, 14}, {1, 0, 2, 0}, {2, 6, 1, 14}).describe());
  EXPECT_TRUE(refuses(Errc::invalid_argument, {"more than 3 loops around a run"}, [] {
    return subarray({4, 4, 4, 4, 4}, {0, 0, 0, 0, 0}, {2, 2, 2, 2, 2});
  }));
}

TEST(Layout, RefusesExtentsBeyond63Bits) {
  const auto refused = [](const std::function<void()>& make) {
    return refuses(Errc::invalid_argument, {"overflow 63 bits"}, make);
  };
  EXPECT_TRUE(refused([] { return block_stride(4, 1, largest / 2); }));
  EXPECT_TRUE(refused([] { return stride(largest, 2); }));
  EXPECT_TRUE(refused([] { return block_stride(2, largest, largest); }));
  EXPECT_TRUE(refused([] { return subarray({largest, 3}, {0, 0}, {1, 1}); }));
  EXPECT_TRUE(refused([] { return subarray({2, largest / 2, 3}, {0, 0, 0}, {1, 1, 1}); }));
  EXPECT_EQ(block(largest).elements(), largest);
  EXPECT_EQ(stride(largest / 2, 2).end(), largest - 2);
}

TEST(Layout, NestsAnyLoops) {
  const Layout::Loop loops[]{{3, 7}, {2, 100}, {4, 1000}};

  const Layout layout = nested(2, loops);

  EXPECT_EQ(layout.elements(), 48);
  EXPECT_EQ(layout.end(), 2 + 2 * 7 + 100 + 3 * 1000);
  EXPECT_EQ(layout.loops().size(), 3u);
  EXPECT_EQ(nested(5, {}).elements(), 5);
  const Layout::Loop empty[]{{0, 1}};
  EXPECT_EQ(nested(5, empty).elements(), 0);
}

TEST(Layout, RefusesLoopsThatOverlapOrAreTooMany) {
  const Layout::Loop interleaved[]{{3, 7}, {2, 10}}, negative[]{{-1, 7}};
  const Layout::Loop many[]{{2, 10}, {2, 100}, {2, 1000}, {2, 10000}};

  EXPECT_THROW((void)nested(2, interleaved), Error);
  EXPECT_THROW((void)nested(2, negative), Error);
  EXPECT_THROW((void)nested(2, many), Error);
}

}  // namespace
}  // namespace tca::test
