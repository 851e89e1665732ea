// Tests distributed transforms: against FFTW's own of the whole array, by their definition, and NPB's FT by its published sums,
// on any number of ranks, in slabs and in pencils.
#include <gtest/gtest.h>

#include <complex>
#include <mutex>
#include <numbers>
#include <string>
#include <vector>

#include "fft/fftw.hpp"
#include "fft/field.hpp"
#include "fft/measure.hpp"
#include "fft/npb.hpp"
#include "fft/plan.hpp"
#include "fft/way.hpp"
#include "tca/error.hpp"
#include "tca/world.hpp"

namespace tca::fft {
namespace {

template <class Real>
Ends<Real> ends_of(const Plan<Real>& plan) {
  return {plan.input_box(), plan.output_box(), plan.arrays().front(), plan.arrays().back()};
}

Options quick(const std::vector<int>& grid, bool real = false, int batches = 0) {
  return {.grid = grid, .real = real, .batches = batches, .measured = false};
}

// The whole transform of a field, put together from what the ranks have. One rank takes FFTW's own.
template <class Real>
std::vector<std::complex<Real>> transformed(const Field& field, const Options& options) {
  const Extents all = complex_extents(field.extents, field.real);
  std::vector<std::complex<Real>> whole(static_cast<std::size_t>(all[0] * all[1] * all[2]));
  std::mutex mutex;
  World::run_threads(options.grid[0] * options.grid[1], [&](World& world) {
    const Plan<Real> plan(world, field.extents, options);
    for (int time = 0; time < 2; ++time) {  // the second time, arrays are full of old numbers
      write_input(field, ends_of(plan));
      plan.forward();
    }
    const std::lock_guard lock(mutex);
    const Box& box = plan.output_box();
    std::size_t at = 0;
    for (std::int64_t x = box.first[0]; x < box.first[0] + box.size[0]; ++x)
      for (std::int64_t y = box.first[1]; y < box.first[1] + box.size[1]; ++y)
        for (std::int64_t z = box.first[2]; z < box.first[2] + box.size[2]; ++z)
          whole[static_cast<std::size_t>((x * all[1] + y) * all[2] + z)] = plan.output()[at++];
  });
  return whole;
}

template <class Real>
double distance(const std::vector<std::complex<Real>>& a, const std::vector<std::complex<Real>>& b) {
  double off = 0, all = 0;
  for (std::size_t i = 0; i < a.size(); ++i) {
    off += std::norm(std::complex<double>(a[i]) - std::complex<double>(b[i]));
    all += std::norm(std::complex<double>(b[i]));
  }
  return std::sqrt(off / all);
}

struct Case {
  Extents extents;
  std::vector<int> grid;
  bool real = false;
  int batches = 0;
};

std::vector<Case> cases() {
  return {{{8, 8, 8}, {2, 1}},           {{8, 8, 8}, {2, 1}, true, 4},
          {{9, 7, 5}, {3, 1}, false, 2},                                 // uneven slabs
          {{9, 7, 5}, {3, 1}, true, 3},  {{5, 6, 7}, {2, 3}, false, 2},  // uneven pencils
          {{5, 6, 7}, {2, 2}, true, 2},  {{2, 6, 8}, {1, 4}, false, 2},  // slabs of the other kind
          {{2, 6, 8}, {1, 4}, true}};
}

template <class Real>
void expect_fftws_own() {
  for (const Case& one : cases()) {
    SCOPED_TRACE(describe(one.extents) + ", " + std::to_string(one.grid[0]) + "x" +
                 std::to_string(one.grid[1]));
    const Field field{.extents = one.extents, .real = one.real};
    const auto own = transformed<Real>(field, quick({1, 1}, one.real));
    const auto spread = transformed<Real>(field, quick(one.grid, one.real, one.batches));
    EXPECT_LT(distance(spread, own), sizeof(Real) == sizeof(float) ? 3e-7 : 6e-16);
  }
}

class Fft : public testing::Test {
  void SetUp() override {
    if (!missing_fftw().empty()) GTEST_SKIP() << missing_fftw();
  }
};

TEST_F(Fft, IsFftwsOwnInDoublePrecision) { expect_fftws_own<double>(); }
TEST_F(Fft, IsFftwsOwnInSinglePrecision) { expect_fftws_own<float>(); }

// A wave has a single number, and the sign of the exponent is that of the definition.
TEST_F(Fft, FindsAWave) {
  World::run_threads(2, [](World& world) {
    const Plan<double> plan(world, {4, 4, 8}, quick({2, 1}));
    const Box& in = plan.input_box();
    std::size_t at = 0;
    for (std::int64_t x = in.first[0]; x < in.first[0] + in.size[0]; ++x)
      for (std::int64_t y = 0; y < 4; ++y)
        for (std::int64_t z = 0; z < 8; ++z)
          plan.input()[at++] =
              std::polar(1.0, 2 * std::numbers::pi * static_cast<double>((6 * x + 2 * y + 5 * z) % 8) / 8);

    plan.forward();

    const Box& out = plan.output_box();
    for (std::size_t i = 0; i < plan.output().size(); ++i) {
      const auto n = static_cast<std::int64_t>(i);
      const bool is_wave = n / out.size[2] / out.size[1] == 3 &&
                           out.first[1] + n / out.size[2] % out.size[1] == 1 && n % out.size[2] == 5;
      EXPECT_LT(std::abs(plan.output()[i] - (is_wave ? 128.0 : 0.0)), 1e-12) << i;
    }
  });
}

template <class Real>
Errors errors_of(const Field& field, const std::vector<int>& grid, bool damaged = false) {
  Errors errors;
  World::run_threads(grid[0] * grid[1], [&](World& world) {
    const Plan<Real> plan(world, field.extents, quick(grid, field.real, 2));
    const Known known = what_is_known(world, field, plan.input_box());
    write_input(field, ends_of(plan));
    plan.forward();
    if (damaged && world.rank() == 0) plan.output()[1] *= static_cast<Real>(1.001);
    Errors found;
    check_output(world, field, known, ends_of(plan), found);
    world.barrier();
    plan.backward();
    check_round_trip(world, field, ends_of(plan), found);
    if (world.rank() == 0) errors = found;
  });
  return errors;
}

TEST_F(Fft, IsWhatIsKnownOfIt) {
  EXPECT_LT(errors_of<double>({{12, 10, 9}, false}, {3, 1}).largest(), 1e-14);
  EXPECT_LT(errors_of<double>({{12, 10, 9}, true}, {2, 2}).largest(), 1e-14);
  EXPECT_LT(errors_of<float>({{12, 10, 8}, true}, {2, 1}).largest(), 1e-6);
}

TEST_F(Fft, CheckFindsADamagedNumber) {
  EXPECT_GT(errors_of<double>({{12, 10, 9}, false}, {2, 1}, true).largest(), tolerance<double>);
}

TEST_F(Fft, RunsOnTheModelInVirtualTime) {
  std::vector<double> us;
  const auto body = [&](World& world) {
    const Plan<double> plan(world, {16, 16, 16}, quick({2, 1}));
    const auto way = host_way(world, plan.forward_pipeline(), plan.backward_pipeline());
    write_input(Field{.extents = {16, 16, 16}}, ends_of(plan));
    world.barrier();
    const Taken taken = way->run(1);
    if (world.rank() == 0) us = {taken.total_us, taken.exchange_us};
  };
  World::run_threads(2, body, {.fabric = "sim"});
  const std::vector<double> first = us;
  World::run_threads(2, body, {.fabric = "sim"});

  EXPECT_GT(first[1], 0);
  EXPECT_GT(first[0], first[1]);
  EXPECT_EQ(us, first);
}

TEST_F(Fft, NpbFindsThePublishedSums) {
  const npb::Problem& problem = npb::problem_named("S");
  for (const std::vector<int>& grid : {std::vector<int>{2, 1}, {2, 2}}) {
    double error = 1;
    World::run_threads(grid[0] * grid[1], [&](World& world) {
      const Plan<double> plan(world, problem.extents, quick(grid));
      const auto way = host_way(world, plan.forward_pipeline(), plan.backward_pipeline());
      const auto evolution = npb::host_evolution(world, problem, ends_of(plan));
      const npb::Run done = npb::run(world, problem, ends_of(plan), *way, *evolution);
      if (world.rank() == 0) error = done.error(problem);
    });
    EXPECT_LT(error, npb::tolerance);
  }
}

std::string refusal(const Extents& extents, int ranks, const Options& options) {
  try {
    (void)decompose(extents, ranks, options);
    return "";
  } catch (const Error& error) {
    return error.what();
  }
}

TEST(FftDecomposition, TakesSlabsWhereTheyFitAndPencilsElsewhere) {
  const auto grid = [](const Extents& extents, int ranks, bool real = false) {
    const Decomposition decomposition = decompose(extents, ranks, {.real = real});
    return std::vector<int>{decomposition.rows(), decomposition.columns()};
  };
  EXPECT_EQ(grid({8, 8, 8}, 8), (std::vector<int>{8, 1}));
  EXPECT_EQ(grid({8, 8, 8}, 12), (std::vector<int>{4, 3}));
  EXPECT_EQ(grid({2, 8, 8}, 8), (std::vector<int>{2, 4}));
  EXPECT_EQ(grid({2, 8, 8}, 8, true), (std::vector<int>{2, 4}));
}

TEST(FftDecomposition, RefusesWhatLeavesARankNothing) {
  EXPECT_NE(refusal({4, 4, 4}, 5, {.grid = {5, 1}}).find("a grid of 5x1 ranks leaves some of them nothing"),
            std::string::npos);
  EXPECT_NE(refusal({4, 4, 4}, 64, {}).find("cannot be divided among 64 ranks"), std::string::npos);
}

}  // namespace
}  // namespace tca::fft
