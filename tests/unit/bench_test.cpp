// The parts of the benchmarks that are plain arithmetic.
#include <gtest/gtest.h>

#include "gpu/grid.hpp"
#include "gpu/machine.hpp"
#include "overlap.hpp"

namespace tca::bench {
namespace {

TEST(HiddenShare, IsOfTheShorterOfTheTwo) {
  EXPECT_DOUBLE_EQ(hidden_share(10, 10, 10), 1);
  EXPECT_DOUBLE_EQ(hidden_share(10, 10, 15), 0.5);
  EXPECT_DOUBLE_EQ(hidden_share(10, 10, 20), 0);
  EXPECT_DOUBLE_EQ(hidden_share(4, 10, 11), 0.75);
  EXPECT_DOUBLE_EQ(hidden_share(10, 4, 11), 0.75);
}

TEST(HiddenShare, IsLeftAsItIsWhereMoreWasLostThanHidden) {
  EXPECT_DOUBLE_EQ(hidden_share(10, 10, 22), -0.2);
  EXPECT_DOUBLE_EQ(hidden_share(10, 10, 9), 1.1);
}

TEST(HiddenShare, IsReckonedRoundByRound) {
  const OverlapSamples samples{{10, 20}, {10, 40}, {20, 40}};
  EXPECT_EQ(samples.hidden(), (std::vector<double>{0, 1}));
}

}  // namespace
}  // namespace tca::bench

namespace tca::bench::gpu {
namespace {

void expect_grid(Grid grid, unsigned blocks, unsigned threads) {
  EXPECT_EQ(grid.blocks, blocks);
  EXPECT_EQ(grid.threads, threads);
}

TEST(GridFor, AWarpForEachChunkUpTo128Blocks) {
  expect_grid(grid_for(0, 0), 1, 32);
  expect_grid(grid_for(1, 0), 1, 32);
  expect_grid(grid_for(3, 0), 3, 32);
  expect_grid(grid_for(256, 0), 128, 64);
  expect_grid(grid_for(1024, 0), 128, 256);
  expect_grid(grid_for(1000000, 0), 128, 256);
}

TEST(GridFor, ABlockForEachSegment) {
  expect_grid(grid_for(0, 1), 1, 256);
  expect_grid(grid_for(0, 48), 48, 256);
  expect_grid(grid_for(0, 128), 128, 256);
  expect_grid(grid_for(0, 200), 128, 256);
}

TEST(GridFor, WhatIsAskedForStays) {
  expect_grid(grid_for(256, 0, {.threads = 128}), 64, 128);
  expect_grid(grid_for(256, 0, {.blocks = 3}), 3, 256);
  expect_grid(grid_for(1, 1, {.blocks = 100, .threads = 64}), 100, 64);
}

TEST(Rows, ABlockIsOneRow) {
  const Rows rows = Rows::block(1000);
  EXPECT_EQ(rows.bytes(), 1000u);
  EXPECT_EQ(rows.extent(), 1000u);
  EXPECT_EQ(rows.padded(), 1024u);
}

TEST(Rows, SpacedOnesLeaveOutAsMuchAsTheySend) {
  const Rows rows = Rows::spaced(1000, 256);
  EXPECT_EQ(rows.bytes(), 1024u);
  EXPECT_EQ(rows.extent(), 3 * 512u + 256u);
}

TEST(CountGpus, EachOnceByModel) {
  EXPECT_EQ(count_gpus({"NVIDIA H200 (0000:01:00.0), GPU 0", "NVIDIA H200 (0000:02:00.0), GPU 1"}),
            "2 x NVIDIA H200");
  EXPECT_EQ(count_gpus({"NVIDIA H200 (0000:01:00.0), GPU 0", "NVIDIA H200 (0000:01:00.0), GPU 0"}),
            "1 x NVIDIA H200");
  EXPECT_EQ(count_gpus({"B (0000:01:00.0), GPU 0", "A (0000:02:00.0), GPU 1", "B (0000:03:00.0), GPU 2"}),
            "1 x A, 2 x B");
}

}  // namespace
}  // namespace tca::bench::gpu
