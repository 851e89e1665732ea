// Tests collectives by kernels: every kind, type and operation, in place and not, started by the host, on a
// stream and in replayed graphs. The ranks share a GPU or have one each.
#include <gtest/gtest.h>

#include <cmath>
#include <limits>
#include <thread>

#include "coll_on_stream.hpp"
#include "kernels/team_kernels.hpp"
#include "replay.hpp"

namespace tca::test {
namespace {

using namespace std::chrono_literals;

constexpr CollectiveKind kinds[]{CollectiveKind::broadcast, CollectiveKind::all_gather,
                                 CollectiveKind::all_reduce, CollectiveKind::reduce_scatter,
                                 CollectiveKind::all_to_all};

class GpuColl : public testing::TestWithParam<int> {
 protected:
  static int ranks() { return GetParam(); }
  static void run(const Ranks::Body& body) { EXPECT_EQ(thread_ranks("cuda")->run(ranks(), body), ""); }

  // Runs the case for every kind, in place and not.
  static void run_all(CollCase test, By by) {
    run([=](World& world) {
      for (const CollectiveKind kind : kinds) {
        for (const bool in_place : {true, false}) {
          CollCase one = test;
          one.kind = kind;
          one.root = world.size() - 1;
          one.in_place = in_place || kind == CollectiveKind::broadcast;
          check(world, one, by);
        }
      }
    });
  }
};

TEST_P(GpuColl, BarrierOnAStreamAndInAGraph) {
  run([](World& world) {
    for (const By by : {By::host, By::stream, By::graph, By::start_and_wait})
      check(world, {.kind = CollectiveKind::barrier, .count = 0, .steps = 20}, by);
  });
}

TEST_P(GpuColl, OfOddSizes) {
  for (const std::int64_t count : {1, 3, 37, 1001}) {
    for (const char* algorithm : {"kernel_ll", "kernel_direct"}) {
      run_all({.type = "float", .algorithm = algorithm, .count = count, .steps = 4}, By::turns);
      run_all({.type = "long", .algorithm = algorithm, .count = count, .steps = 4}, By::graph);
    }
  }
}

// Needs several waves of blocks. Most sizes are no multiple of a vector access.
TEST_P(GpuColl, OfManyElements) {
  run_all({.type = "double", .algorithm = "kernel_ll", .count = 30001, .steps = 3}, By::stream);
  run_all({.type = "float", .algorithm = "kernel_direct", .count = 300001, .steps = 3}, By::stream);
  run_all({.type = "double", .count = 1 << 20, .steps = 2}, By::graph);
}

TEST_P(GpuColl, OfEveryTypeAndOperation) {
  run([](World& world) {
    for (const char* type : {"float", "double", "int", "long"}) {
      for (const ReduceOp op : {ReduceOp::sum, ReduceOp::min, ReduceOp::max, ReduceOp::product}) {
        for (const char* algorithm : {"kernel_ll", "kernel_direct"}) {
          for (const CollectiveKind kind : {CollectiveKind::all_reduce, CollectiveKind::reduce_scatter}) {
            check(world,
                  {.kind = kind, .type = type, .algorithm = algorithm, .count = 130, .op = op, .steps = 2},
                  By::stream);
          }
        }
      }
    }
  });
}

// Runs several chains in a row on a stream, and combines what each has brought before the next one starts.
// Leaves out graphs, which hold at most one step where threads share a GPU.
TEST_P(GpuColl, ByChainsOnAStream) {
  for (const CollectiveKind kind : {CollectiveKind::all_reduce, CollectiveKind::reduce_scatter}) {
    for (const std::string& algorithm : coll_algorithms(kind, ranks())) {
      for (const std::int64_t count : {3, 1000}) {
        run([&](World& world) {
          for (const By by : {By::stream, By::start_and_wait, By::host})
            check(world, {.kind = kind, .type = "double", .algorithm = algorithm, .count = count, .steps = 4},
                  by);
        });
      }
    }
  }
}

TEST_P(GpuColl, StartedByTheHost) {
  for (const char* algorithm : {"kernel_ll", "kernel_direct"}) {
    run_all({.type = "int", .algorithm = algorithm, .count = 100, .steps = 20}, By::host);
    run_all({.type = "int", .algorithm = algorithm, .count = 100, .steps = 20}, By::test);
  }
}

// Runs thousands of steps that the host does not inspect. Each step moves on what the one before has brought:
// blocks change ranks, then places, and the last rank's blocks are broadcast and summed.
class Mill {
 public:
  static constexpr std::int64_t n = 40;  // elements of a block

  Mill(World& world, const CollOptions& options)
      : ranks_(world.size()),
        here_(world.window<std::int64_t>(ranks_ * n)),
        there_(world.window<std::int64_t>(ranks_ * n)),
        copy_(world.window<std::int64_t>(ranks_ * n)),
        exchange_(world, "exchange", here_, there_, n, options),
        last_(world, "last", copy_, ranks_ * n, world.size() - 1, options),
        sum_(world, "sum", copy_, ranks_ * n, ReduceOp::sum, options) {
    for (std::int64_t block = 0; block < ranks_; ++block)
      fill(here_, block * n, n, world.rank() * ranks_ + block);
  }

  void step(cudaStream_t stream) {
    exchange_.run(stream);
    const auto move = [&](Window<std::int64_t>& to, std::int64_t at, std::int64_t from, std::int64_t count) {
      ok(cudaMemcpyAsync(to.data() + at, there_.data() + from, static_cast<std::size_t>(count) * 8,
                         cudaMemcpyDeviceToDevice, stream));
    };
    move(here_, 0, (ranks_ - 1) * n, n);
    if (ranks_ > 1) move(here_, n, 0, (ranks_ - 1) * n);
    move(copy_, 0, 0, ranks_ * n);
    last_.run(stream);
    sum_.run(stream);
  }

  void check(int rank, int steps) const {
    using Blocks = std::vector<std::vector<std::int64_t>>;
    const auto ranks = static_cast<std::size_t>(ranks_);
    Blocks here(ranks, std::vector<std::int64_t>(ranks)), there = here;
    for (std::size_t r = 0; r < ranks; ++r)
      for (std::size_t b = 0; b < ranks; ++b) here[r][b] = static_cast<std::int64_t>(r * ranks + b);
    for (int i = 0; i < steps; ++i) {
      for (std::size_t r = 0; r < ranks; ++r)
        for (std::size_t b = 0; b < ranks; ++b) there[r][b] = here[b][r];
      for (std::size_t r = 0; r < ranks; ++r)
        for (std::size_t b = 0; b < ranks; ++b) here[r][(b + 1) % ranks] = there[r][b];
    }
    const std::vector<std::int64_t> have = contents(here_), sums = contents(copy_);
    for (std::size_t i = 0; i < have.size(); ++i) {
      const std::size_t block = i / static_cast<std::size_t>(n);
      require(have[i] == here[static_cast<std::size_t>(rank)][block], "rank {}: element {} is {}", rank, i,
              have[i]);
      require(sums[i] == ranks_ * there[ranks - 1][block], "rank {}: sum {} is {}", rank, i, sums[i]);
    }
  }

 private:
  std::int64_t ranks_;
  Window<std::int64_t> here_, there_, copy_;
  AllToAll<std::int64_t> exchange_;
  Broadcast<std::int64_t> last_;
  AllReduce<std::int64_t> sum_;
};

TEST_P(GpuColl, ManyStepsInAGraph) {
  run([](World& world) {
    for (const char* algorithm : {"kernel_ll", "kernel_direct"}) {
      constexpr int steps = 20, replays = 100;
      const OnStream on;
      Mill mill(world, {.algorithm = algorithm});
      const Replay graph(world, on.stream(), steps, [&](int) { mill.step(on.stream()); });
      for (int i = 0; i < replays; ++i) graph.launch();
      ok(cudaStreamSynchronize(on.stream()));
      world.check();
      mill.check(world.rank(), steps * replays);
      world.barrier();
    }
  });
}

TEST_P(GpuColl, StartedInAnyOrderAndWaitedForInOne) {
  run([](World& world) {
    AllReduce<double> first(world, "first", 10), second(world, "second", 1 << 16);
    for (int step = 0; step < 20; ++step) {
      fill(first.from(), 0, 10, 1.0);
      fill(second.from(), 0, 1 << 16, 2.0);
      Collective& early = world.rank() % 2 == 0 ? static_cast<Collective&>(first) : second;
      Collective& late = world.rank() % 2 == 0 ? static_cast<Collective&>(second) : first;
      early.start();
      late.start();
      first.wait();
      second.wait();
      require(element(first.to(), 9) == world.size(), "the first is wrong");
      require(element(second.to(), 65535) == 2 * world.size(), "the second is wrong");
    }
  });
}

// Element i has what compares unlike other numbers at rank i % size(): a NaN, or a zero of another sign. Few
// values are combined by a warp, many by the whole block.
template <class T>
void reduce_by_team(World& world, int count) {
  const T nan = std::numeric_limits<T>::quiet_NaN();
  const auto is_nan = [&](int i) { return i / world.size() % 2 == 0; };
  const OnStream on;
  const Team team = world.team("extremes", count);
  const Window<T> values = world.window<T>(count);
  const auto wrong = world.window<unsigned>(1);
  for (const ReduceOp op : {ReduceOp::min, ReduceOp::max}) {
    const T other = op == ReduceOp::min ? T{0} : -T{0};
    std::vector<T> data(static_cast<std::size_t>(count));
    for (int i = 0; i < count; ++i) {
      const bool mine = i % world.size() == world.rank();
      data[static_cast<std::size_t>(i)] = is_nan(i) ? mine ? -nan : T{1} : mine ? -other : other;
    }
    values.write(0, data);
    world.barrier();
    ok(run_team_reduce(team.device(), op, values.data(), static_cast<unsigned>(count), wrong.data(),
                       on.stream()));
    ok(cudaStreamSynchronize(on.stream()));
    world.check();
    const std::vector<T> have = contents(values);
    for (int i = 0; i < count; ++i) {
      const T one = have[static_cast<std::size_t>(i)];
      require(is_nan(i) ? std::isnan(one) : one == 0 && std::signbit(one) == (op == ReduceOp::min),
              "rank {}: element {} of {} is {}", world.rank(), i, count, one);
    }
  }
  require(element(wrong, 0) == 0, "the team gave up");
  world.barrier();
}

TEST_P(GpuColl, TeamsKeepNans) {
  run([](World& world) {
    for (const int count : {1, 7, 100}) {
      reduce_by_team<float>(world, count);
      reduce_by_team<double>(world, count);
    }
  });
}

// Even ranks and odd ones, in the opposite order.
TEST_P(GpuColl, OfGroups) {
  run([](World& world) {
    World group = world.split(world.rank() % 2, -world.rank());
    reduce_by_team<float>(group, 7);
    for (const CollectiveKind kind : kinds) {
      for (const char* algorithm : {"kernel_ll", "kernel_direct"})
        check(group, {.kind = kind, .algorithm = algorithm, .count = 1001, .steps = 4}, By::graph);
    }
    world.barrier();
  });
}

// Few values in one trip and many in two; the team serves kernels of any number of blocks up to its own.
TEST_P(GpuColl, GridsSum) {
  run([](World& world) {
    constexpr int most_blocks = 24, most_values = 300;
    const OnStream on;
    const Team team = world.team("grid", most_values, most_blocks);
    const Window<unsigned> cells = world.window<unsigned>(2 * most_blocks), wrong = world.window<unsigned>(1);
    for (const unsigned blocks : {1u, 5u, 24u}) {
      for (const unsigned threads : {32u, 256u}) {
        for (const unsigned count : {1u, 5u, 40u, 300u}) {
          world.barrier();
          ok(run_grid_sums(team.device(), blocks, threads, count, 60, cells.data(), wrong.data(),
                           on.stream()));
          ok(cudaStreamSynchronize(on.stream()));
          world.check();
          require(element(wrong, 0) == 0, "{} blocks of {} threads, {} values: {} wrong", blocks, threads,
                  count, element(wrong, 0));
        }
      }
    }
    world.barrier();
  });
}

INSTANTIATE_TEST_SUITE_P(Ranks, GpuColl, testing::Values(1, 2, 4));

TEST(GpuCollErrors, SayThatAGridHasTooManyBlocks) {
  const std::string failure = thread_ranks("cuda")->run(1, [](World& world) {
    const OnStream on;
    const Team team = world.team("small", 1, 2);
    const Window<unsigned> cells = world.window<unsigned>(6), wrong = world.window<unsigned>(1);
    ok(run_grid_sums(team.device(), 3, 32, 1, 1, cells.data(), wrong.data(), on.stream()));
    ok(cudaStreamSynchronize(on.stream()));
    world.check();
  });
  EXPECT_NE(failure.find("a kernel of 3 blocks sums by team 'small', which was made for 2"),
            std::string::npos)
      << failure;
}

TEST(GpuCollErrors, RefuseTeamsOfDifferentSizes) {
  const std::string failure =
      thread_ranks("cuda")->run(2, [](World& world) { (void)world.team("t", 1, world.rank()); });
  EXPECT_NE(failure.find("team 't': rank 0 makes it for 1 values and 0 blocks, rank 1 for 1 and 1"),
            std::string::npos)
      << failure;
}

TEST(GpuCollErrors, SayWhoIsMissing) {
  for (const char* algorithm : {"kernel_ll", "kernel_direct"}) {
    const auto body = [&](World& world) {
      OnStream on;
      AllReduce<double> sum(world, "norm", 4, ReduceOp::sum, {.algorithm = algorithm, .time_limit = 300ms});
      on.run(sum);
      if (world.rank() == 1) std::this_thread::sleep_for(1s);
      on.run(sum);
      world.check();
    };
    const std::string failure = thread_ranks("cuda")->run(2, body);
    EXPECT_NE(failure.find("step 2 of allreduce 'norm' for rank 1"), std::string::npos) << failure;
  }
}

TEST(GpuCollErrors, RefuseAStreamWhereTheHostCombines) {
  const auto body = [](World& world) {
    AllReduce<double> sum(world, "norm", 4, [](double a, double b) { return a + b; });
    sum.run(nullptr);
  };
  const std::string failure = thread_ranks("cuda")->run(2, body);
  EXPECT_NE(failure.find("run of the allreduce 'norm' on a stream: it goes by"), std::string::npos)
      << failure;
}

}  // namespace
}  // namespace tca::test
