// Compares CG on GPUs with the published results and with the solver on hosts, for every decomposition, order
// and way to start.
//
// Ranks are processes. Where they share a GPU they take turns on it, some milliseconds each, so that a kernel
// whose ranks meet thousands of times gets only a few steps there.
#include <cuda_runtime.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <memory>
#include <string>
#include <tuple>
#include <utility>
#include <vector>

#include "cg/exchange.hpp"
#include "cg/gpu/exchange.hpp"
#include "cg/gpu/matrix.hpp"
#include "cg/gpu/way.hpp"
#include "cg/measure.hpp"
#include "cg/solver.hpp"
#include "ranks.hpp"

namespace tca::cg {
namespace {

struct Case {
  int rows, columns;  // of ranks
  Order order;
  Start start;

  int ranks() const { return rows * columns; }
  std::string name() const {
    return fmt::format("{}x{}_{}_{}", rows, columns, order == Order::npb ? "npb" : "merged", name_of(start));
  }
};

std::vector<Case> all_cases() {
  std::vector<Case> cases;
  for (const Order order : {Order::npb, Order::merged}) {
    for (const int ranks : {1, 2, 3, 4})
      for (const Start start : {Start::kernel, Start::graph, Start::host})
        cases.push_back({ranks, 1, order, start});
    for (const auto& [rows, columns] : {std::pair{1, 2}, {2, 2}, {2, 4}})
      for (const Start start : {Start::kernel, Start::graph, Start::host})
        cases.push_back({rows, columns, order, start});
  }
  return cases;
}

// A way and what it uses.
struct Made {
  Made(World& world, const GpuMatrix& matrix, Order order, Start start) {
    if (start == Start::kernel) {
      way = kernel_way(world, matrix, order);
      return;
    }
    const Vectors vectors = make_vectors(world, matrix.share());
    exchange = direct_gpu_exchange(world, matrix.share(), vectors);
    way = step_way(world, matrix, vectors, *exchange, order, start);
  }
  std::unique_ptr<GpuExchange> exchange;
  std::unique_ptr<Way> way;
};

// One rank's results, computed on the host.
Step on_host(const Problem& problem, int steps) {
  Step last;
  const auto solve = [&](World& world) {
    Solver solver(world, problem, Grid(1, {1, 1}));
    const auto exchange = direct_exchange(world, solver.share(), solver.vectors());
    std::vector<double> times;
    last = host_way(world, solver, *exchange, Order::npb)->run(steps, times);
  };
  World::run_threads(1, solve, {.fabric = "shm"});
  return last;
}

void expect_agreement(const Step& found, double zeta, const std::string& what) {
  test::require(std::abs(found.zeta / zeta - 1) < 1e-13, "{}: zeta is {}, and should be {}", what, found.zeta,
                zeta);
  test::require(found.residual > 0 && found.residual < 1e-11, "{}: the residual is {}", what, found.residual);
}

class CgOnGpu : public testing::TestWithParam<Case> {};

// The second run begins anew, and the third is shorter, so that counts and buffers go on from any state.
TEST_P(CgOnGpu, AgreesWithTheHost) {
  const Case& one = GetParam();
  const Problem& problem = problem_named("S");
  const double zetas[] = {on_host(problem, 1).zeta, on_host(problem, 2).zeta};
  const std::string failure = test::process_ranks("cuda")->run(one.ranks(), [&](World& world) {
    const GpuMatrix matrix(world, problem, Grid(one.ranks(), {one.rows, one.columns}));
    const Made made(world, matrix, one.order, one.start);
    std::vector<double> times;
    for (const int steps : {2, 2, 1})
      expect_agreement(made.way->run(steps, times), zetas[steps - 1], fmt::format("{} steps", steps));
    test::require(times.size() == 3 && times[0] > 0, "the runs have no times");
    if (one.start == Start::kernel) return;
    const MessageTimes messages_us = made.way->time_messages(1);
    for (const Message message : messages) {
      const std::vector<double>& us = messages_us[static_cast<std::size_t>(message)];
      test::require(us.empty() != is_sent(message, matrix.share()) || world.size() == 1, "{} times of {}",
                    us.size(), name_of(message));
      test::require(std::ranges::all_of(us, [](double one) { return one > 0; }), "{} took no time",
                    name_of(message));
    }
  });
  EXPECT_EQ(failure, "");
}

INSTANTIATE_TEST_SUITE_P(Gpu, CgOnGpu, testing::ValuesIn(all_cases()),
                         [](const auto& test) { return test.param.name(); });

// Classes of which all is in shared memory, of which the matrix is divided into tiles, and which are
// streamed.
class CgClassOnGpu : public testing::TestWithParam<std::tuple<const char*, int>> {};

TEST_P(CgClassOnGpu, FindsThePublishedResult) {
  const auto& [name, ranks] = GetParam();
  const Problem& problem = problem_named(name);
  const std::string failure = test::process_ranks("cuda")->run(ranks, [&](World& world) {
    const GpuMatrix matrix(world, problem, Grid(world.size(), {world.size(), 1}));
    for (const Order order : {Order::npb, Order::merged})
      for (const Start start : {Start::kernel, Start::graph}) {
        const Case one{world.size(), 1, order, start};
        const Made made(world, matrix, order, start);
        Way* const way = made.way.get();
        const Result result = measure(world, problem, matrix.share(), {&way, 1}, {.runs = 2})[0];
        const Verification found{result.last.zeta, problem.zeta};
        test::require(found.error() < 2e-13, "{}: zeta is {}, and should be {}", one.name(), found.zeta,
                      found.published);
        test::require(result.last.residual < 1e-13, "{}: the residual is {}", one.name(),
                      result.last.residual);
      }
  });
  EXPECT_EQ(failure, "");
}

INSTANTIATE_TEST_SUITE_P(Gpu, CgClassOnGpu,
                         testing::Combine(testing::Values("S", "W", "A", "B"), testing::Values(1, 2, 4)),
                         [](const auto& test) {
                           return fmt::format("{}_{}", std::get<0>(test.param), std::get<1>(test.param));
                         });

// Several ways share one matrix and take turns, as in a comparison.
TEST(CgOnGpus, WaysTakeTurns) {
  const Problem& problem = problem_named("S");
  const std::string failure = test::process_ranks("cuda")->run(2, [&](World& world) {
    const GpuMatrix matrix(world, problem, Grid(2, {2, 1}));
    const Vectors vectors = make_vectors(world, matrix.share());
    const auto exchange = direct_gpu_exchange(world, matrix.share(), vectors);
    const auto kernel = kernel_way(world, matrix, Order::merged);
    const auto graph = step_way(world, matrix, vectors, *exchange, Order::npb, Start::graph);
    std::vector<double> times;
    const double zeta = graph->run(1, times).zeta;
    for (int turn = 0; turn < 3; ++turn)
      for (Way* const way : {kernel.get(), graph.get()})
        expect_agreement(way->run(1, times), zeta, fmt::format("turn {}", turn));
  });
  EXPECT_EQ(failure, "");
}

// The two ways by one kernel. Where a GPU has clusters, one holds class S, in either order.
TEST(CgOnGpus, ClustersAndGridsAgree) {
  const Problem& problem = problem_named("S");
  const double zeta = on_host(problem, 1).zeta;
  for (const int ranks : {1, 2, 4}) {
    const std::string failure = test::process_ranks("cuda")->run(ranks, [&](World& world) {
      int has_clusters = 0;
      cudaDeviceGetAttribute(&has_clusters, cudaDevAttrClusterLaunch, 0);
      const GpuMatrix matrix(world, problem, Grid(ranks, {ranks, 1}));
      for (const Order order : {Order::npb, Order::merged}) {
        const auto cluster = cluster_way(world, matrix, order), grid = grid_way(world, matrix, order);
        test::require((cluster != nullptr) == (has_clusters != 0), "a cluster is not taken as it should be");
        std::vector<double> times;
        for (int turn = 0; turn < 2; ++turn)
          for (Way* const way : {cluster.get(), grid.get()})
            if (way != nullptr) expect_agreement(way->run(1, times), zeta, fmt::format("turn {}", turn));
      }
    });
    EXPECT_EQ(failure, "") << ranks;
  }
}

// Tiles of a class that is divided in two directions, by the ranks and by their GPUs.
TEST(CgOnGpus, DividesBlocksIntoTiles) {
  const Problem& problem = problem_named("A");
  const std::string failure = test::process_ranks("cuda")->run(2, [&](World& world) {
    const GpuMatrix matrix(world, problem, Grid(2, {1, 2}));
    for (const Order order : {Order::npb, Order::merged}) {
      const auto way = kernel_way(world, matrix, order);
      std::vector<double> times;
      const double zeta = way->run(problem.steps, times).zeta;
      test::require(Verification{zeta, problem.zeta}.error() < 2e-13, "zeta is {}, and should be {}", zeta,
                    problem.zeta);
    }
  });
  EXPECT_EQ(failure, "");
}

}  // namespace
}  // namespace tca::cg
