// Tests the arithmetic of the benchmarks, and the checks that notice when nothing has moved.
#include <gtest/gtest.h>

#include <memory>
#include <utility>
#include <vector>

#include "channels.hpp"
#include "coll_values.hpp"
#include "gpu/grid.hpp"
#include "gpu/machine.hpp"
#include "measure_overlap.hpp"
#include "tca/error.hpp"

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

// A ping-pong that carries the first messages and no later ones.
class Stale final : public PingPong {
 public:
  explicit Stale(std::unique_ptr<PingPong> fresh) : fresh_(std::move(fresh)) {}

  void round_trip(int rank) override {
    if (!has_moved_) fresh_->round_trip(rank);
    has_moved_ = true;
  }
  std::span<std::byte> sent() override { return fresh_->sent(); }
  std::span<const std::byte> arrived() const override { return fresh_->arrived(); }

 private:
  std::unique_ptr<PingPong> fresh_;
  bool has_moved_ = false;
};

TEST(PingPongs, AreRefusedWhenNothingMovesAfterTheFirst) {
  World::run_threads(2, [](World& world) {
    const Effort little{.placements = 1, .rounds = 1, .sample_us = 0};
    const auto measured = [&](bool is_stale) {
      const auto make = [&] {
        Contenders<PingPong> all;
        all.push_back(chain_ping_pong(world, 100, {"shm", {}}));
        if (is_stale) all.back() = std::make_unique<Stale>(std::move(all.back()));
        return all;
      };
      return measure(world, make, little, [](int) {}).samples[0].size();
    };
    EXPECT_EQ(measured(false), 1u);
    EXPECT_THROW(measured(true), Error);
  });
}

// An exchange that fills each ghost with the rank's own edge, so that nothing goes from rank to rank.
class OwnEdges final : public FaceExchange {
 public:
  explicit OwnEdges(const Face& face) : face_(face), cube_(face.cube()) { protocol = "own"; }

  double* cube() override { return cube_.data(); }
  void exchange() override {
    for (std::size_t i = 0; i < face_.elements(); ++i) {
      cube_[face_.low_ghost() + i] = cube_[face_.high_edge() + i];
      cube_[face_.high_ghost() + i] = cube_[face_.low_edge() + i];
    }
  }

 private:
  Face face_;
  std::vector<double> cube_;
};

TEST(FaceExchanges, AreRefusedWhenNothingGoesFromRankToRank) {
  World::run_threads(2, [](World& world) {
    const Effort little{.placements = 1, .rounds = 1, .sample_us = 0};
    const Face face = Face::make("block", 4);
    const auto measured = [&](bool is_own) {
      const auto make = [&] {
        Contenders<FaceExchange> all;
        all.push_back(is_own ? std::make_unique<OwnEdges>(face) : chain_faces(world, face, {"shm", {}}));
        return all;
      };
      return measure(world, make, face, little, [](int) {}).samples[0].size();
    };
    EXPECT_EQ(measured(false), 1u);
    EXPECT_THROW(measured(true), Error);
  });
}

TEST(CollValues, TellOneRunFromTheNext) {
  World::run_threads(1, [](World& world) {
    for (const char* what : {"allgather", "alltoall", "allreduce", "reduce_scatter"}) {
      CollValues values(world, {.what = what, .bytes = 16});
      std::vector<std::byte> input(16), output(16);
      values.fill(input, output);
      output = input;
      EXPECT_TRUE(values.right(world, input, output)) << what;
      values.fill(input, output);
      EXPECT_FALSE(values.right(world, input, output)) << what;
    }
  });
}

TEST(Channels, AreThoseOfAllPuts) {
  const char* chain =
      "chain 'faces' on rank 0, guarded, by the built-in table:\n"
      "  0: 64 bytes, block, window 0 +0 -> rank 3 window 0 +64: mpi/packed, predicted 1.00 us (next best "
      "mpi/rma 2.00 us)\n"
      "  1: 64 bytes, block, window 0 +0 -> rank 1 window 0 +64: shm/direct, predicted 0.10 us (next best "
      "shm/pull 0.20 us)\n"
      "  2: signal to rank 1\n";
  EXPECT_EQ(channels_in(chain), (std::map<std::string, int>{{"mpi/packed", 1}, {"shm/direct", 1}}));
  EXPECT_EQ(protocols_in(chain), "direct+packed");
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
