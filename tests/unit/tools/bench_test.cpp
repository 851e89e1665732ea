// Tests the arithmetic of the benchmarks, and the checks that notice when nothing has moved.
#include <gtest/gtest.h>

#include <cstdint>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "channels.hpp"
#include "coll_values.hpp"
#include "gpu/grid.hpp"
#include "gpu/machine.hpp"
#include "measure/agree.hpp"
#include "measure/measure_overlap.hpp"
#include "measure/touching.hpp"
#include "put_exchange.hpp"
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

// A ping-pong by hand whose receiver goes on reading what it has fetched once, as from a cache that nobody tells
// of new values.
class Stale final : public PingPong {
 public:
  explicit Stale(std::unique_ptr<PingPong> fresh) : fresh_(std::move(fresh)) {}

  void send() override { fresh_->send(); }
  void receive() override {
    fresh_->receive();
    if (fetched_.empty()) fetched_.assign(fresh_->arrived().begin(), fresh_->arrived().end());
  }
  std::span<std::byte> sent() override { return fresh_->sent(); }
  std::span<const std::byte> arrived() const override { return fetched_; }

 private:
  std::unique_ptr<PingPong> fresh_;
  std::vector<std::byte> fetched_;
};

TEST(PingPongs, AreRefusedWhenWhatArrivesIsStale) {
  World::run_threads(2, [](World& world) {
    const Effort little{.placements = 1, .rounds = 1, .sample_us = 0};
    const auto measured = [&](bool is_stale) {
      const auto make = [&] {
        Contenders<PingPong> all;
        all.push_back(hand_ping_pong(world, 100));
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

// An exchange whose bytes stay those of the first step.
class StaleOverlap final : public Overlap {
 public:
  StaleOverlap(std::unique_ptr<Overlap> fresh, bool stale) : fresh_(std::move(fresh)), stale_(stale) {
    static_cast<Contender&>(*this) = *fresh_;
    bytes = fresh_->bytes;
    progress = fresh_->progress;
    fetched_.resize(bytes);
  }

  void start() override { fresh_->start(); }
  void point() override { fresh_->point(); }
  void wait() override {
    fresh_->wait();
    if (!has_fetched_ || !stale_) fetched_.assign(fresh_->arrived(), fresh_->arrived() + bytes);
    has_fetched_ = true;
  }
  std::byte* sent() override { return fresh_->sent(); }
  const std::byte* arrived() const override { return fetched_.data(); }

 private:
  std::unique_ptr<Overlap> fresh_;
  bool stale_, has_fetched_ = false;
  std::vector<std::byte> fetched_;
};

TEST(Overlaps, AreRefusedWhenWhatArrivesIsStale) {
  World::run_threads(2, [](World& world) {
    const Effort little{.placements = 1, .rounds = 1, .sample_us = 0};
    const auto measured = [&](bool is_stale) {
      const auto make = [&] {
        Contenders<Overlap> all;
        all.push_back(
            std::make_unique<StaleOverlap>(chain_overlap(world, {100, "none"}, {"shm", {}}), is_stale));
        return all;
      };
      return measure_overlap(world, make, 1, little, [](int) {}).samples[0].both_us.size();
    };
    EXPECT_EQ(measured(false), 1u);
    EXPECT_THROW(measured(true), Error);
  });
}

// A collective that gives what it has given at first.
class StaleColl final : public Coll {
 public:
  StaleColl(World& world, bool stale) : values_(world, {.what = "allgather", .bytes = 16}), stale_(stale) {}

  void run() override {
    values_.fill(given_, taken_);
    if (runs_++ == 0 || !stale_) taken_ = given_;
    values_.read(given_, taken_);
  }
  bool right(World& world) override {
    run();
    return values_.right(world, given_, taken_);
  }

 private:
  CollValues values_;
  bool stale_;
  int runs_ = 0;
  std::vector<std::byte> given_ = std::vector<std::byte>(16), taken_ = given_;
};

TEST(Colls, AreRefusedWhenWhatArrivesIsStale) {
  World::run_threads(1, [](World& world) {
    const Effort little{.placements = 1, .rounds = 1, .sample_us = 0};
    const auto measured = [&](bool is_stale) {
      const auto make = [&] {
        Contenders<Coll> all;
        all.push_back(std::make_unique<StaleColl>(world, is_stale));
        return all;
      };
      return measure(world, make, little, [](int) {}).samples[0].size();
    };
    EXPECT_EQ(measured(false), 1u);
    EXPECT_THROW(measured(true), Error);
  });
}

TEST(Coll, ReadsInEachRunWhatWasGivenInIt) {
  World::run_threads(1, [](World& world) {
    for (const char* what : {"bcast", "allgather", "alltoall", "allreduce", "reduce_scatter"}) {
      CollValues values(world, {.what = what, .bytes = 24});
      std::vector<std::byte> input(24), output(24);
      values.fill(input, output);
      if (std::string(what) != "bcast") output = input;
      values.read(input, output);
      EXPECT_TRUE(values.right(world, input, output)) << what;
      const auto stale_input = input, stale_output = output;
      values.fill(input, output);
      values.read(stale_input, stale_output);
      if (std::string(what) != "bcast") output = input;
      EXPECT_FALSE(values.right(world, input, output)) << what;  // what it has read before was wrong
    }
  });
}

TEST(TunersPuts, WriteTheirSourcesInEachStepAndArrive) {
  World::run_threads(2, [](World& world) {
    const PutPoint point{.shape = {.run = 200}, .across = 1, .puts = 2};
    PutField field(world, PutField::bytes_for(point.shape));
    for (const auto& step : put_exchanges(world, field, point, {{"shm", "direct"}, {"shm", "pull"}})) {
      for (const PutField::Face& face : PutField::faces(point)) {
        step->step();
        const std::byte sent = field.data()[face.sent + 199];
        step->step();
        EXPECT_NE(field.data()[face.sent + 199], sent) << step->protocol;
        if (step->protocol.empty()) continue;
        EXPECT_EQ(field.data()[face.arrived + 199], field.data()[face.sent + 199]) << step->protocol;
      }
      EXPECT_TRUE(step->right(world)) << step->protocol;
    }
  });
}

TEST(FreshValue, DiffersFromStepToStepAndFromRankToRank) {
  for (std::uint64_t step = 0; step < 300; ++step) {
    EXPECT_NE(fresh_value(step, 0), fresh_value(step + 1, 0));
    EXPECT_NE(fresh_value(step, 0), fresh_value(step, 1));
    EXPECT_NE(fresh_value(step, 0), fresh_value(step + 1, 1));
  }
}

TEST(ReadAll, FindsOneStaleByte) {
  for (const std::size_t bytes : {1u, 7u, 8u, 100u}) {
    std::vector<std::byte> memory(bytes);
    write_all(memory, fresh_value(1, 0));
    EXPECT_TRUE(read_all(memory, fresh_value(1, 0)));
    memory.back() = fresh_value(0, 0);
    EXPECT_FALSE(read_all(memory, fresh_value(1, 0))) << bytes;
  }
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

TEST(Largest, IsThatOfAllRanksValueByValue) {
  World::run_threads(2, [](World& world) {
    std::vector<double> mine(100), expected(100);
    for (std::size_t i = 0; i < mine.size(); ++i) {
      mine[i] = (i % 2 == 0) == (world.rank() == 0) ? 7 : 3;
      expected[i] = 7;
    }
    EXPECT_EQ(largest(world, mine), expected);
    EXPECT_TRUE(largest(world, {}).empty());
  });
}

// Steps of which rank 1 takes long and for which nobody waits.
class Lagging final : public Stepped {
 public:
  explicit Lagging(World& world) : world_(world) {}
  void step() override {
    const auto begin = world_.now();
    while (world_.rank() == 1 && (world_.now() - begin).count() < 200e-6) {
    }
  }
  bool right(World&) override { return true; }

 private:
  World& world_;
};

TEST(Measurements, AreOfTheSlowestRankOnEveryRank) {
  World::run_threads(2, [](World& world) {
    const Effort little{.placements = 1, .rounds = 1, .sample_us = 0};
    const auto make = [&] {
      Contenders<Stepped> all;
      all.push_back(std::make_unique<Lagging>(world));
      return all;
    };
    EXPECT_GE(measure(world, make, little).samples[0][0], 200);
  });
}

TEST(Channels, AreThoseOfAllPuts) {
  const char* chain =
      "chain 'faces/all' on rank 0 of 4, guarded; costs by the built-in table:\n"
      "  put  to      by          predicted  bytes  layout      from             into             why\n"
      "  0    rank 3  mpi/packed  1.00 us    64     block of 8  window 'a/b' at 0  window 0 at 8  next best "
      "mpi/rma 2.00 us\n"
      "  1    rank 1  shm/direct  0.10 us    64     block of 8  window 'a/b' at 0  window 0 at 8  next best "
      "shm/pull 0.20 us\n"
      "  2    rank 1  a signal over shm\n";
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

TEST(GridFor, AWarpForEachChunkInOneBlockOrUpTo128) {
  expect_grid(grid_for(0, 0), 1, 32);
  expect_grid(grid_for(1, 0), 1, 32);
  expect_grid(grid_for(3, 0), 1, 96);
  expect_grid(grid_for(8, 0), 1, 256);
  expect_grid(grid_for(9, 0), 9, 32);
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
