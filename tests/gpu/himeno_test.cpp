// Compares Himeno on GPUs with the serial reference, to the bit, for every decomposition and every way to
// start.
//
// Ranks are processes. Where they share a GPU they take turns on it, and so may launch ahead and use graphs
// (docs/gpu.md).
#include <gtest/gtest.h>

#include <array>
#include <memory>
#include <string>

#include "../unit/uneven.hpp"
#include "himeno/check.hpp"
#include "himeno/gpu/exchange.hpp"
#include "himeno/gpu/solver.hpp"
#include "himeno/gpu/way.hpp"
#include "himeno/measure.hpp"
#include "ranks.hpp"

namespace tca::himeno {
namespace {

struct Case {
  std::array<int, 3> grid;
  Start start;
};

std::string case_name(const testing::TestParamInfo<Case>& test) {
  const auto& [grid, start] = test.param;
  return fmt::format("{}x{}x{}_{}", grid[0], grid[1], grid[2], name_of(start));
}

std::vector<Case> all_cases() {
  std::vector<Case> cases;
  for (const std::array<int, 3> grid :
       {std::array{1, 1, 1}, {2, 1, 1}, {1, 2, 1}, {1, 1, 2}, {4, 1, 1}, {2, 2, 1}, {1, 2, 2}, {2, 2, 2}}) {
    for (const Start start : {Start::host, Start::graph, Start::kernel}) cases.push_back({grid, start});
  }
  return cases;
}

void expect_serial_answer(World& world, const Problem& problem, const GpuSolver& solver,
                          const std::string& what) {
  const Check verdict = check(world, problem, solver.solution());
  test::require(verdict.different_ranks.empty(), "{}: cells differ on rank {}", what,
                fmt::join(verdict.different_ranks, ", "));
  test::require(verdict.residual > 0 && verdict.residual_difference <= 1e-10,
                "{}: the residual differs by {} of {}", what, verdict.residual_difference, verdict.residual);
}

class HimenoOnGpu : public testing::TestWithParam<Case> {};

TEST_P(HimenoOnGpu, GivesTheSerialAnswer) {
  const auto [shape, start] = GetParam();
  const std::string failure =
      test::process_ranks("cuda")->run(shape[0] * shape[1] * shape[2], [&](World& world) {
        const Grid grid(world.size(), {shape[0], shape[1], shape[2]});
        for (const bool even : {true, false}) {
          Problem problem{.extents = size_named("XS").extents};
          if (!even) problem.coefficients = uneven;
          for (const bool overlap : {true, false}) {
            for (const bool guarded : {true, false}) {
              GpuSolver solver(world, problem, grid, overlap);
              const auto exchange =
                  direct_gpu_exchange(world, grid, solver.share(), solver.pressure(), guarded);
              const auto way = gpu_way(world, solver, *exchange, start);
              // The numbers of iterations are odd, so that runs begin with either array.
              for (const int iterations : {1, 7, 5, 10}) way->run(iterations);
              expect_serial_answer(world, problem, solver,
                                   fmt::format("coefficients {}, overlap {}, guarded {}",
                                               even ? "even" : "uneven", overlap, guarded));
            }
          }
        }
      });
  EXPECT_EQ(failure, "");
}

INSTANTIATE_TEST_SUITE_P(Gpu, HimenoOnGpu, testing::ValuesIn(all_cases()), case_name);

// The problem is large enough for a warp of the persistent kernel to have several tasks.
TEST(HimenoOnGpus, SendsNothingBeforeItIsComplete) {
  const Problem problem{.extents = size_named("S").extents};
  const std::string failure = test::process_ranks("cuda")->run(2, [&](World& world) {
    const Grid grid(world.size(), {2, 1, 1});
    for (const bool overlap : {true, false}) {
      GpuSolver solver(world, problem, grid, overlap);
      const auto exchange = direct_gpu_exchange(world, grid, solver.share(), solver.pressure(), true);
      gpu_way(world, solver, *exchange, Start::kernel)->run(20);
      for (const apps::MessageCost& cost :
           time_messages(world, solver, *exchange))  // ghosts stay as they are
        test::require(cost.us > 0 && cost.count == 1, "{} took {} us", cost.name, cost.us);
      gpu_way(world, solver, *exchange, Start::kernel)->run(3);
      expect_serial_answer(world, problem, solver, overlap ? "overlapped" : "in turn");
    }
  });
  EXPECT_EQ(failure, "");
}

// Gives each block more tasks than it has room for coefficients, and more than it has entries for the places
// of their cells. Rows have 17 cells, so that the warp's further lanes have none, or several rows share a
// task.
TEST(HimenoOnGpus, TakesWhatHasNoRoom) {
  const Problem problem{.extents = {402, 402, 19}, .coefficients = uneven};
  for (const std::array<int, 3> shape : {std::array{1, 1, 1}, {2, 1, 1}, {1, 1, 2}}) {
    const std::string failure =
        test::process_ranks("cuda")->run(shape[0] * shape[1] * shape[2], [&](World& world) {
          const Grid grid(world.size(), {shape[0], shape[1], shape[2]});
          for (const bool overlap : {true, false}) {
            GpuSolver solver(world, problem, grid, overlap);
            const auto exchange = direct_gpu_exchange(world, grid, solver.share(), solver.pressure(), true);
            const auto way = gpu_way(world, solver, *exchange, Start::kernel);
            for (const int iterations : {1, 7, 5, 10}) way->run(iterations);
            expect_serial_answer(world, problem, solver, overlap ? "overlapped" : "in turn");
          }
        });
    EXPECT_EQ(failure, "") << fmt::format("{}", fmt::join(shape, "x"));
  }
}

// Several ways share one solver and take turns, as in a comparison.
TEST(HimenoOnGpus, WaysTakeTurns) {
  const Problem problem{.extents = size_named("S").extents};
  const std::string failure = test::process_ranks("cuda")->run(2, [&](World& world) {
    const Grid grid = Grid::choose(world.size(), problem.interior());
    GpuSolver solver(world, problem, grid, true);
    const auto exchange = direct_gpu_exchange(world, grid, solver.share(), solver.pressure(), true);
    std::vector<std::unique_ptr<Way>> owned;
    std::vector<Way*> ways;
    for (const Start start : {Start::host, Start::graph, Start::kernel})
      ways.push_back(owned.emplace_back(gpu_way(world, solver, *exchange, start)).get());
    const auto results = measure(world, problem, ways, {.iterations = 301});
    test::require(solver.iterations() == 301, "{} iterations were done", solver.iterations());
    for (const Result& result : results)
      test::require(result.median.total_us > 0 && result.mflops > 0, "a way has no time");
    expect_serial_answer(world, problem, solver, "three ways");
  });
  EXPECT_EQ(failure, "");
}

TEST(HimenoOnGpus, StartIsChosenBySizeAndMemory) {
  constexpr double h100 = 3.35e12, h200 = 4.9e12;
  const auto chosen = [](const char* size, int ranks, double memory) {
    return chosen_start({.extents = size_named(size).extents}, ranks, true, memory);
  };
  EXPECT_EQ(chosen("S", 1, h200), Start::kernel);
  EXPECT_EQ(chosen("M", 4, h200), Start::kernel);
  EXPECT_EQ(chosen("M", 2, h200), Start::graph);
  EXPECT_EQ(chosen("M", 2, h100), Start::kernel);
  EXPECT_EQ(chosen("M", 1, h100), Start::graph);
  EXPECT_EQ(chosen("L", 8, h200), Start::graph);
  EXPECT_EQ(chosen("L", 4, h100), Start::graph);
  EXPECT_EQ(chosen_start({.extents = size_named("S").extents}, 4, false, h200), Start::graph);
  EXPECT_EQ(test::process_ranks("cuda")->run(1,
                                             [](World& world) {
                                               const double memory = slowest_memory(world);
                                               test::require(memory > 1e11 && memory < 1e14,
                                                             "a GPU's memory moves {} bytes a second",
                                                             memory);
                                             }),
            "");
}

}  // namespace
}  // namespace tca::himeno
