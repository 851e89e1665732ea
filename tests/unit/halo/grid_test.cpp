// Tests process grids: how one is chosen, neighbours, and how an array is divided.
#include "tca/grid.hpp"

#include <limits>

#include "messages.hpp"

namespace tca::test {
namespace {

std::string chosen(int ranks, std::vector<std::int64_t> extents) {
  return Grid::choose(ranks, extents).describe();
}

TEST(Grid, ChoosesTheFewestBytesForTheBusiestRank) {
  EXPECT_EQ(chosen(1, {64, 64, 64}), "1x1x1");
  EXPECT_EQ(chosen(4, {64, 64, 64}), "2x2x1");
  EXPECT_EQ(chosen(4, {1024, 8}), "4x1");
  EXPECT_EQ(chosen(4, {8, 1024, 4}), "1x4x1");
  EXPECT_EQ(chosen(7, {100, 100}), "7x1");
}

// Each element of a face across the contiguous dimension lies in its own cache line.
TEST(Grid, CutsTheContiguousDimensionOnlyWhereThatSavesMuch) {
  EXPECT_EQ(chosen(8, {64, 64, 64}), "4x2x1");
  EXPECT_EQ(chosen(4, {64, 64}), "4x1");
  EXPECT_EQ(chosen(4, {8, 4096}), "1x4");
}

// Two ranks in a periodic dimension send to each other on both sides.
TEST(Grid, CountsTheNeighboursAcrossAPeriodicBoundary) {
  const std::vector<std::int64_t> extents{64, 64, 64};
  EXPECT_EQ(Grid::choose(4, extents, {true, true, true}).describe(), "4x1x1");
}

TEST(Grid, CutsOuterDimensionsAmongEquals) {
  EXPECT_EQ(chosen(2, {64, 64, 64}), "2x1x1");
  EXPECT_EQ(chosen(16, {32, 32, 32, 32}), "4x2x2x1");
}

TEST(Grid, NeverGivesARankNothing) {
  EXPECT_EQ(chosen(6, {5, 2}), "3x2");
  EXPECT_EQ(chosen(8, {2, 2, 2}), "2x2x2");
}

TEST(Grid, OfUnknownExtentsCutsTheContiguousDimensionLast) {
  EXPECT_EQ(Grid(4, {0, 0}).describe(), "4x1");
  EXPECT_EQ(Grid(64, {0, 0}).describe(), "32x2");
}

TEST(Grid, CountsTheElementsOfTheLargestArrays) {
  constexpr std::int64_t most = std::numeric_limits<std::int64_t>::max();
  EXPECT_EQ(chosen(4, {most, 100}), "4x1");
  EXPECT_EQ(chosen(4, {100, most}), "1x4");
}

TEST(Grid, KeepsTheSidesThatAreGiven) {
  const std::vector<std::int64_t> extents{64, 64, 64};
  EXPECT_EQ(Grid(12, {0, 3, 0}, {}, extents).describe(), "4x3x1");
  EXPECT_EQ(Grid(12, {12, 1, 1}, {}, extents).describe(), "12x1x1");
  EXPECT_EQ(Grid(6, {0, 3}).describe(), "2x3");
}

TEST(Grid, RefusesWhatCannotBe) {
  const auto refused = [](std::initializer_list<std::string_view> parts, const std::function<void()>& make) {
    return refuses(Errc::invalid_argument, parts, make);
  };
  const std::vector<std::int64_t> small{2, 2};
  EXPECT_TRUE(refused({"grid 3x0: no such grid holds 8 ranks"}, [] { Grid(8, {3, 0}); }));
  EXPECT_TRUE(refused({"grid 2x2: no such grid holds 5 ranks"}, [] { Grid(5, {2, 2}); }));
  EXPECT_TRUE(refused({"grid: an array of 2x2 cells cannot be dealt out over 5 ranks", "use 4 ranks"},
                      [&] { return Grid::choose(5, small); }));
  EXPECT_TRUE(
      refused({"grid 3x0: dimension 0 has 2 cells for 3 ranks; use a grid of at most 2 ranks there"}, [&] {
        Grid(6, {3, 0}, {}, small);
      }));
  EXPECT_TRUE(
      refused({"grid 2x0: an array of 2x2 cells cannot be dealt out over 6 ranks", "use 4 ranks"}, [&] {
        Grid(6, {2, 0}, {}, small);
      }));
  EXPECT_TRUE(refused({"1 to 7 dimensions, not 0"}, [] { Grid(1, {}); }));
  EXPECT_TRUE(refused({"1 to 7 dimensions, not 8"}, [] { Grid(1, {1, 1, 1, 1, 1, 1, 1, 1}); }));
  EXPECT_TRUE(refused({"no side may be negative"}, [] { Grid(4, {-2, -2}); }));
  EXPECT_TRUE(refused({"at least 1 rank"}, [] { Grid(0, {0, 0}); }));
  EXPECT_TRUE(refused({"grid 2x2: periodic has 1 dimension, not 2"}, [] { Grid(4, {2, 2}, {true}); }));
  EXPECT_TRUE(refused({"grid 4: extents has 2 dimensions, not 1"}, [&] { Grid(4, {4}, {}, small); }));
  EXPECT_TRUE(refused({"grid: an array of 0x100 has no cells"}, [] { chosen(4, {0, 100}); }));
}

TEST(Grid, RanksAreRowMajor) {
  const Grid grid(24, {2, 3, 4});
  EXPECT_EQ(grid.ranks(), 24);
  EXPECT_EQ(grid.coordinates(0), (Grid::Coordinates{0, 0, 0, 0}));
  EXPECT_EQ(grid.coordinates(17), (Grid::Coordinates{1, 1, 1, 0}));
  for (int rank = 0; rank < 24; ++rank) EXPECT_EQ(grid.rank_at(grid.coordinates(rank)), rank);
}

TEST(Grid, NeighboursEndAtABoundary) {
  const Grid grid(6, {2, 3});
  EXPECT_EQ(grid.neighbour(0, {1, 0}), 3);
  EXPECT_EQ(grid.neighbour(0, {0, 1}), 1);
  EXPECT_EQ(grid.neighbour(0, {1, 1}), 4);
  EXPECT_EQ(grid.neighbour(0, {-1, 0}), std::nullopt);
  EXPECT_EQ(grid.neighbour(2, {0, 1}), std::nullopt);
  EXPECT_EQ(grid.neighbour(2, {1, 1}), std::nullopt);
}

TEST(Grid, PeriodicNeighboursWrap) {
  const Grid grid(6, {2, 3}, {false, true});
  EXPECT_EQ(grid.neighbour(0, {0, -1}), 2);
  EXPECT_EQ(grid.neighbour(5, {0, 1}), 3);
  EXPECT_EQ(grid.neighbour(5, {1, 1}), std::nullopt);
  EXPECT_EQ(grid.neighbour(0, {0, -4}), 2);
  EXPECT_EQ(Grid(1, {1}, {true}).neighbour(0, {1}), 0);
}

TEST(Grid, PartsCoverTheWholeWithoutOverlap) {
  const Grid grid(12, {3, 4});
  for (const std::int64_t extent : {4, 5, 7, 100, 101, 102, 103}) {
    std::vector<int> owners(static_cast<std::size_t>(extent), 0);
    std::int64_t smallest = extent, largest = 0;
    for (int rank = 0; rank < 4; ++rank) {
      const Range part = grid.part(rank, 1, extent);
      smallest = std::min(smallest, part.size);
      largest = std::max(largest, part.size);
      for (std::int64_t i = 0; i < part.size; ++i) ++owners[static_cast<std::size_t>(part.begin + i)];
    }
    EXPECT_EQ(owners, std::vector<int>(static_cast<std::size_t>(extent), 1));
    EXPECT_LE(largest - smallest, 1);
  }
  EXPECT_EQ(grid.part(0, 1, 6).size, 2);  // the first parts get one element more
  EXPECT_EQ(grid.part(3, 1, 6).size, 1);
}

TEST(Grid, PartsOfFewerElementsThanRanksMayBeEmpty) {
  const Grid grid(4, {4});
  EXPECT_EQ(grid.part(1, 0, 2).size, 1);
  EXPECT_EQ(grid.part(2, 0, 2).size, 0);
  EXPECT_EQ(grid.part(3, 0, 0).size, 0);
}

TEST(Grid, AnswersOnlyForWhatIsInIt) {
  const auto refused = [](std::initializer_list<std::string_view> parts, const std::function<void()>& ask) {
    return refuses(Errc::invalid_argument, parts, ask);
  };
  const Grid line(4, {4}, {true}), square(4, {2, 2});
  EXPECT_TRUE(refused({"part: there is no dimension 3 in a grid of 4"}, [&] { return line.part(0, 3, 10); }));
  EXPECT_TRUE(refused({"part: there is no dimension -1"}, [&] { return line.part(0, -1, 10); }));
  EXPECT_TRUE(refused({"part: there is no rank 7 in a grid of 4"}, [&] { return line.part(7, 0, 10); }));
  EXPECT_TRUE(refused({"part: -10 cells of dimension 0"}, [&] { return line.part(0, 0, -10); }));
  EXPECT_TRUE(
      refused({"coordinates: there is no rank 99 in a grid of 2x2"}, [&] { return square.coordinates(99); }));
  EXPECT_TRUE(refused({"neighbour: there is no rank -1"}, [&] { return square.neighbour(-1, {1}); }));
  EXPECT_TRUE(refused({"rank_at: a place of 7 in dimension 1 lies outside a grid of 2x2"}, [&] {
    return square.rank_at({1, 7});
  }));
  EXPECT_TRUE(refused({"rank_at: a place of -1 in dimension 0"}, [&] { return line.rank_at({-1}); }));
  EXPECT_EQ(line.neighbour(3, {std::numeric_limits<int>::max()}), 2);
}

}  // namespace
}  // namespace tca::test
