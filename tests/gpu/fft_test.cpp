// Tests transforms on GPUs by what is known of them, and NPB's FT by its published sums, on any number of ranks.
#include <gtest/gtest.h>

#include <string>
#include <vector>

#include "fft/field.hpp"
#include "fft/gpu/plan.hpp"
#include "fft/gpu/way.hpp"
#include "fft/npb.hpp"
#include "ranks.hpp"
#include "shared/gpu_call.hpp"

namespace tca::fft {
namespace {

using apps::OwnStream;
using apps::Start;

template <class Real>
Ends<Real> ends_of(const GpuPlan<Real>& plan) {
  return {plan.input_box(), plan.output_box(), plan.arrays().front(), plan.arrays().back()};
}

struct Case {
  Extents extents;
  std::vector<int> grid;
  bool real;
  int batches;

  std::string name() const {
    return fmt::format("{}_{}x{}_{}_{}", describe(extents), grid[0], grid[1], real ? "real" : "complex",
                       batches);
  }
};

std::vector<Case> cases() {
  return {{{16, 16, 16}, {1, 1}, false, 1}, {{16, 16, 16}, {1, 1}, true, 1}, {{16, 16, 16}, {2, 1}, false, 1},
          {{64, 32, 48}, {2, 1}, false, 4}, {{15, 14, 13}, {3, 1}, true, 2}, {{64, 64, 64}, {4, 1}, true, 4},
          {{15, 14, 13}, {2, 2}, false, 3}, {{15, 14, 13}, {2, 2}, true, 2}, {{4, 16, 20}, {1, 4}, false, 2}};
}

// The second time, arrays are full of old numbers, and graphs are launched again.
template <class Real>
void expect_what_is_known(World& world, const Case& one, Start start) {
  const Field field{.extents = one.extents, .real = one.real};
  const OwnStream stream;
  const GpuPlan<Real> plan(world, one.extents, stream.get(),
                           {.grid = one.grid, .real = one.real, .batches = one.batches});
  const auto way = gpu_way(world, plan.forward_pipeline(), plan.backward_pipeline(), stream.get(), start);
  const Known known = what_is_known(world, field, plan.input_box());
  for (int time = 0; time < 2; ++time) {
    Errors errors;
    write_input(field, ends_of(plan));
    world.barrier();
    way->forward();
    check_output(world, field, known, ends_of(plan), errors);
    world.barrier();
    way->backward();
    check_round_trip(world, field, ends_of(plan), errors);
    test::require(errors.largest() < tolerance<Real>, "{} time, {} precision: off by {} {} {}", time + 1,
                  sizeof(Real) == sizeof(float) ? "single" : "double", errors.numbers, errors.energy,
                  errors.round_trip);
  }
}

class FftOnGpu : public testing::TestWithParam<Case> {};

TEST_P(FftOnGpu, IsWhatIsKnownOfIt) {
  const Case& one = GetParam();
  const std::string failure = test::process_ranks("cuda")->run(one.grid[0] * one.grid[1], [&](World& world) {
    for (const Start start : {Start::host, Start::graph}) {
      expect_what_is_known<double>(world, one, start);
      expect_what_is_known<float>(world, one, start);
    }
  });
  EXPECT_EQ(failure, "");
}

INSTANTIATE_TEST_SUITE_P(Gpu, FftOnGpu, testing::ValuesIn(cases()),
                         [](const auto& test) { return test.param.name(); });

class FtOnGpu : public testing::TestWithParam<int> {};

TEST_P(FtOnGpu, FindsThePublishedSums) {
  const npb::Problem& problem = npb::problem_named("S");
  const std::string failure = test::process_ranks("cuda")->run(GetParam(), [&](World& world) {
    const OwnStream stream;
    const GpuPlan<double> plan(world, problem.extents, stream.get());
    const auto way =
        gpu_way(world, plan.forward_pipeline(), plan.backward_pipeline(), stream.get(), Start::graph);
    const auto evolution = gpu_evolution(problem, ends_of(plan), stream.get());
    for (int time = 0; time < 2; ++time) {
      const double error = npb::run(world, problem, ends_of(plan), *way, *evolution).error(problem);
      test::require(error < npb::tolerance, "off by {}", error);
    }
  });
  EXPECT_EQ(failure, "");
}

INSTANTIATE_TEST_SUITE_P(Gpu, FtOnGpu, testing::Values(1, 2, 3));

// Threads that share a GPU enqueue their work anew each time, instead of launching graphs.
TEST(FftOnSharedGpu, IsWhatIsKnownOfIt) {
  World::run_threads(2,
                     [&](World& world) {
                       expect_what_is_known<double>(world, {{16, 12, 10}, {2, 1}, false, 2}, Start::graph);
                     },
                     {.fabric = "cuda"});
}

TEST(FftOnGpuErrors, SaysThatAGpuIsTooSmall) {
  const OwnStream stream;
  try {
    World::run_threads(1,
                       [&](World& world) {
                         const GpuPlan<double> plan(world, {4096, 4096, 4096}, stream.get());
                       },
                       {.fabric = "cuda"});
    FAIL() << "a terabyte fits";
  } catch (const Error& error) {
    EXPECT_EQ(error.code(), Errc::out_of_memory);
    EXPECT_NE(std::string(error.what()).find("4096x4096x4096 complex numbers on 1 rank needs"),
              std::string::npos)
        << error.what();
  }
}

}  // namespace
}  // namespace tca::fft
