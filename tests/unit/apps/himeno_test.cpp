// Tests Himeno: the serial reference against published residuals, and every decomposition against the
// reference.
#include <gtest/gtest.h>

#include <array>
#include <cmath>
#include <memory>
#include <string>
#include <vector>

#include "himeno/check.hpp"
#include "himeno/measure.hpp"
#include "himeno/problem.hpp"
#include "himeno/serial.hpp"
#include "himeno/solver.hpp"
#include "tca/error.hpp"
#include "tca/grid.hpp"
#include "tca/world.hpp"
#include "uneven.hpp"

namespace tca::himeno {
namespace {

struct Published {
  const char* size;
  int iterations;
  double residual;  // of double-precision fields; single precision comes within 0.6 %
};

std::string published_name(const testing::TestParamInfo<Published>& test) {
  return std::string(test.param.size) + "_" + std::to_string(test.param.iterations);
}

class SerialResidual : public testing::TestWithParam<Published> {};

TEST_P(SerialResidual, IsThePublishedOne) {
  const auto [size, iterations, residual] = GetParam();
  Serial serial({.extents = size_named(size).extents});
  while (serial.iterations() < iterations) serial.iterate();
  EXPECT_NEAR(serial.residual() / residual, 1, 0.006);
}

INSTANTIATE_TEST_SUITE_P(Himeno, SerialResidual,
                         testing::Values(Published{"XS", 1, 6.71344e-3}, Published{"XS", 3, 6.22934e-3},
                                         Published{"XS", 100, 2.31703e-3}, Published{"S", 1, 3.41625e-3},
                                         Published{"S", 3, 3.29545e-3}, Published{"S", 100, 2.14709e-3},
                                         Published{"M", 1, 1.72233e-3}, Published{"M", 3, 1.69217e-3},
                                         Published{"L", 1, 8.64638e-4}),
                         published_name);

// Returns process grids. Those of up to four ranks divide each dimension in every way, so that every kind of
// neighbour occurs. Those of more ranks contain each shape once.
std::vector<std::array<int, 3>> grids_up_to(int most_ranks) {
  std::vector<std::array<int, 3>> grids;
  for (int ranks = 1; ranks <= most_ranks; ++ranks) {
    for (int i = 1; i <= ranks; ++i) {
      for (int j = 1; i * j <= ranks; ++j) {
        const int k = ranks / (i * j);
        if (i * j * k == ranks && (ranks <= 4 || (i <= j && j <= k))) grids.push_back({i, j, k});
      }
    }
  }
  return grids;
}

class Decomposition : public testing::TestWithParam<std::array<int, 3>> {};

TEST_P(Decomposition, GivesTheSerialAnswer) {
  const auto [ni, nj, nk] = GetParam();
  const Extents extents = size_named("XS").extents;
  const std::array problems{Problem{.extents = extents}, Problem{.extents = extents, .coefficients = uneven}};
  World::run_threads(ni * nj * nk, [&](World& world) {
    const Grid grid(world.size(), {ni, nj, nk});
    for (const Problem& problem : problems) {
      for (const bool overlap : {true, false}) {
        for (const bool guarded : {true, false}) {
          Solver solver(world, problem, grid);
          const auto exchange = direct_exchange(world, grid, solver.share(), solver.pressure(), guarded);
          for (int n = 0; n < 7; ++n) solver.iterate(*exchange, overlap);
          const Check verdict = check(world, problem, solver);
          EXPECT_TRUE(verdict.different_ranks.empty()) << "overlap " << overlap << ", guarded " << guarded;
          EXPECT_LE(verdict.residual_difference, 1e-10);
          EXPECT_GT(verdict.residual, 0);
        }
      }
    }
  });
}

std::string grid_name(const testing::TestParamInfo<std::array<int, 3>>& test) {
  const auto [i, j, k] = test.param;
  return std::to_string(i) + "x" + std::to_string(j) + "x" + std::to_string(k);
}

// The sanitizers make these tests slow.
#if defined(__SANITIZE_ADDRESS__) || defined(__SANITIZE_THREAD__)
constexpr int most_ranks = 4;
#else
constexpr int most_ranks = 8;
#endif
INSTANTIATE_TEST_SUITE_P(Himeno, Decomposition, testing::ValuesIn(grids_up_to(most_ranks)), grid_name);

// An exchange that does nothing.
class NoExchange : public Exchange {
 public:
  void start(int) override {}
  void wait(int) override {}
  double sum(double mine) override { return mine; }
  std::int64_t bytes() const override { return 0; }
  std::string explain() const override { return {}; }
};

TEST(HimenoCheck, FindsAFieldThatIsWrong) {
  const Problem problem{.extents = size_named("XS").extents};
  World::run_threads(2, [&](World& world) {
    const Grid grid(world.size(), {2, 1, 1});
    Solver solver(world, problem, grid);
    NoExchange exchange;
    for (int n = 0; n < 3; ++n) solver.iterate(exchange, true);
    const Check verdict = check(world, problem, solver);
    EXPECT_FALSE(verdict.agrees());
    EXPECT_EQ(verdict.different_ranks, (std::vector<int>{0, 1}));
    EXPECT_GT(verdict.residual_difference, 0.1);
  });
}

TEST(HimenoMeasure, EveryRankAgreesOnTheIterations) {
  const Problem problem{.extents = size_named("XS").extents};
  World::run_threads(2, [&](World& world) {
    const Grid grid = Grid::choose(world.size(), problem.interior());
    Solver solver(world, problem, grid);
    const auto exchange = direct_exchange(world, grid, solver.share(), solver.pressure(), true);
    Exchange* const only = exchange.get();
    const auto results = measure(world, problem, solver, {&only, 1}, {.seconds = 0.05});
    ASSERT_EQ(results.size(), 1U);
    const Result& result = results.front();
    EXPECT_EQ(result.iterations + 3, solver.iterations());  // plus the 3 of the rehearsal
    EXPECT_EQ(result.iterations, world.all_gather(result.iterations)[0]);
    EXPECT_GT(result.mflops, 0);
    EXPECT_EQ(result.bytes_total, 2 * result.bytes_max);
    EXPECT_EQ(result.bytes_max, 30 * 62 * 4);  // one face
    EXPECT_TRUE(check(world, problem, solver).agrees());
  });
}

TEST(HimenoMeasure, ExchangesShareFixedIterations) {
  const Problem problem{.extents = size_named("XS").extents};
  World::run_threads(2, [&](World& world) {
    const Grid grid(world.size(), {1, 2, 1});
    Solver solver(world, problem, grid);
    const auto guarded = direct_exchange(world, grid, solver.share(), solver.pressure(), true);
    const auto unguarded = direct_exchange(world, grid, solver.share(), solver.pressure(), false);
    const std::array<Exchange*, 2> both{guarded.get(), unguarded.get()};
    const auto results = measure(world, problem, solver, both, {.iterations = 13});
    EXPECT_EQ(solver.iterations(), 13);
    EXPECT_EQ(results[0].iterations + results[1].iterations, 13);
    EXPECT_GE(results[1].iterations, 6);
    EXPECT_TRUE(check(world, problem, solver).agrees());
  });
}

// Records the arrays on which it was started.
class ToldExchange : public NoExchange {
 public:
  void start(int which) override { started.push_back(which); }
  std::vector<int> started;
};

TEST(HimenoMeasure, EveryExchangeHasConnectedBeforeTheClock) {
  const Problem problem{.extents = {3, 3, 3}};
  World::run_threads(1, [&](World& world) {
    Solver solver(world, problem, Grid(1, {1, 1, 1}));
    ToldExchange one, other;
    const std::array<Exchange*, 2> both{&one, &other};
    measure(world, problem, solver, both, {.iterations = 2});
    EXPECT_EQ(one.started, (std::vector<int>{0, 1, 1}));
    EXPECT_EQ(other.started, (std::vector<int>{0, 1, 0}));
  });
}

// Ways whose ranks differ: rank 1 computes longer, and rank 0 waits for it in whatever call comes next.
class UnevenWay : public Way {
 public:
  UnevenWay(int rank, bool waits_in_reduction) : rank_(rank), waits_in_reduction_(waits_in_reduction) {}

  std::vector<Phases> run(std::int64_t iterations, const Tick&) override {
    Phases phases{.compute_us = rank_ == 0 ? 70.0 : 100.0, .wait_us = 2, .reduce_us = 3};
    if (rank_ == 0) (waits_in_reduction_ ? phases.reduce_us : phases.wait_us) += 30;
    return std::vector<Phases>(static_cast<std::size_t>(iterations), phases);
  }
  std::int64_t rehearsal() const override { return 1; }
  std::int64_t bytes() const override { return 0; }

 private:
  int rank_;
  bool waits_in_reduction_;
};

TEST(HimenoMeasure, CommunicationIsBeyondTheComputingOfTheSlowestRank) {
  const Problem problem{.extents = {3, 3, 3}};
  World::run_threads(2, [&](World& world) {
    UnevenWay early(world.rank(), false), late(world.rank(), true);
    const std::array<Way*, 2> both{&early, &late};
    const auto results = measure(world, problem, both, {.iterations = 130});
    for (const Result& result : results) {
      EXPECT_EQ(result.iterations, 65);
      EXPECT_EQ(result.samples_us, std::vector<double>(65, 105));
      EXPECT_EQ(result.median.total_us, 105);
      EXPECT_EQ(result.median.phases.compute_us, 100);
      EXPECT_EQ(result.communication_us, 5);
      EXPECT_EQ(result.turns.size(), 9U);
      EXPECT_EQ(result.turns[0].communication_us, 5);
      EXPECT_DOUBLE_EQ(result.mflops, 34 / 105.0);
    }
  });
}

// There are more iterations than samples are kept for, so every fifth one is kept, of both arrays.
TEST(HimenoMeasure, SamplesALongTurnToItsEnd) {
  const Problem problem{.extents = {3, 3, 3}};
  World::run_threads(1, [&](World& world) {
    Solver solver(world, problem, Grid(1, {1, 1, 1}));
    NoExchange none;
    Exchange* const only = &none;
    const auto results = measure(world, problem, solver, {&only, 1}, {.iterations = 70'000});
    EXPECT_EQ(results.front().iterations, 70'000);
    EXPECT_EQ(results.front().samples_us.size(), 14'000U);
  });
}

TEST(HimenoPartition, SlicesAreTheOuterCellsAndTheGhostsBeyond) {
  const Share share{{{0, 4}, {0, 5}, {0, 6}}};
  EXPECT_EQ(directions().size(), 26U);
  EXPECT_EQ(cells_of(share), 6U * 7 * 8);
  const Box sent = slice(share, {1, 0, -1}, false), received = slice(share, {1, 0, -1}, true);
  EXPECT_EQ(sent.begin, (Extents{4, 1, 1}));
  EXPECT_EQ(sent.end, (Extents{5, 6, 2}));
  EXPECT_EQ(received.begin, (Extents{5, 1, 0}));
  EXPECT_EQ(received.end, (Extents{6, 6, 1}));
}

TEST(HimenoProblem, RefusesGridsThatDoNotFit) {
  const Problem problem{.extents = size_named("XS").extents};
  EXPECT_NO_THROW(check_grid(problem, Grid(30, {30, 1, 1})));
  EXPECT_THROW(check_grid(problem, Grid(31, {31, 1, 1})), Error);
  EXPECT_THROW(check_grid(problem, Grid(4, {2, 2})), Error);
}

TEST(HimenoProblem, NamesTheSizesItKnows) {
  EXPECT_EQ(size_named("xl").extents, (Extents{512, 512, 1024}));
  EXPECT_EQ(name_of({512, 512, 1024}), "XL");
  EXPECT_EQ(name_of({512, 512, 1023}), "512x512x1023");
  try {
    size_named("XXL");
    FAIL() << "XXL was accepted";
  } catch (const Error& error) {
    EXPECT_EQ(error.exit_code(), 2);
    EXPECT_NE(std::string(error.what()).find("XS (32x32x64)"), std::string::npos) << error.what();
  }
}

}  // namespace
}  // namespace tca::himeno
