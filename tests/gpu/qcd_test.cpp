// Compares lattice QCD on GPUs with the host: the operator and whole solves, on process grids of up to four
// ranks, in every precision, with every way to start. Ranks are processes, as in himeno_test.cpp.
#include <gtest/gtest.h>

#include <array>
#include <cmath>
#include <string>
#include <vector>

#include "qcd_reference.hpp"
#include "ranks.hpp"

namespace tca::qcd {
namespace {

struct Case {
  std::array<int, 4> grid;
  Start start;
  Precision precision;
  Storage storage;
};

std::string case_name(const testing::TestParamInfo<Case>& test) {
  const Case& one = test.param;
  const char* const precisions[] = {"single", "double", "mixed"};
  return fmt::format("{}_{}_{}_{}", fmt::join(one.grid, "x"), name_of(one.start),
                     precisions[static_cast<int>(one.precision)], static_cast<int>(one.storage));
}

std::vector<Case> all_cases() {
  std::vector<Case> cases;
  for (const std::array<int, 4> grid :
       {std::array{1, 1, 1, 1}, {2, 1, 1, 1}, {1, 2, 1, 1}, {1, 1, 1, 2}, {1, 1, 2, 2}, {2, 1, 1, 2}}) {
    for (const Start start : {Start::host, Start::graph, Start::kernel}) {
      for (const Precision precision : {Precision::double_only, Precision::single_only, Precision::mixed}) {
        // Every grid and every start comes with both ways to store links.
        const bool two_rows = (grid[0] + grid[3] + static_cast<int>(precision)) % 2 == 0;
        cases.push_back({grid, start, precision, two_rows ? Storage::two_rows : Storage::full});
      }
    }
  }
  return cases;
}

class QcdOnGpu : public testing::TestWithParam<Case> {};

TEST_P(QcdOnGpu, AgreesWithTheHost) {
  const Case one = GetParam();
  const Reference& known = reference();
  const bool single = one.precision == Precision::single_only;
  const Grid grid = grid_of(one.grid);
  const std::string failure = test::process_ranks("cuda")->run(grid.ranks(), [&](World& world) {
    const Lattice lattice(grid, global, world.rank());
    Gauge gauge(world, lattice);
    gauge.randomise(1);
    const SolveOptions solve{.tolerance = single ? 1e-5 : tolerance, .max_iterations = 500};
    const double applied_to = one.precision == Precision::double_only ? 1e-13 : 2e-5;
    GpuInverter inverter(
        world, gauge,
        {.wilson = {.kappa = kappa, .storage = one.storage}, .precision = one.precision, .solve = solve},
        one.start);
    Field<double> out, x;
    for (const bool dagger : {false, true}) {
      inverter.apply(random_field(lattice, Sites::even), out, dagger);
      const double off = difference(lattice, Sites::even, out, dagger ? known.adjoint : known.applied);
      test::require(off < applied_to, "an application differs by {}", off);
    }
    // Solves several times, since signals go on counting from solve to solve.
    for (int n = 0; n < 3; ++n) {
      const Inversion found = inverter.invert(random_field(lattice, Sites::all), x);
      const Solution& solution = found.solution;
      test::require(solution.converged && found.true_residuals[0] <= solve.tolerance,
                    "it did not converge: {} after {} iterations", found.true_residuals[0],
                    solution.iterations);
      const double off = difference(lattice, Sites::all, x, known.solution);
      test::require(off < (single ? 1e-3 : 1e-7), "the solution differs by {}", off);
      test::require(single || std::abs(solution.iterations - known.iterations) <= known.iterations / 4,
                    "{} iterations, {} on the host", solution.iterations, known.iterations);
    }
  });
  EXPECT_EQ(failure, "");
}

INSTANTIATE_TEST_SUITE_P(Gpu, QcdOnGpu, testing::ValuesIn(all_cases()), case_name);

TEST(QcdOnGpus, SolvesByBicgstab) {
  const Reference& known = reference();
  for (const std::array<int, 4> shape : {std::array{1, 1, 1, 1}, {1, 1, 1, 2}}) {
    const Grid grid = grid_of(shape);
    const std::string failure = test::process_ranks("cuda")->run(grid.ranks(), [&](World& world) {
      const Lattice lattice(grid, global, world.rank());
      Gauge gauge(world, lattice);
      gauge.randomise(1);
      for (const Start start : {Start::host, Start::graph}) {
        for (const Precision precision : {Precision::double_only, Precision::single_only}) {
          const bool single = precision == Precision::single_only;
          const InverterOptions options{
              .wilson = {.kappa = kappa, .storage = single ? Storage::full : Storage::two_rows},
              .method = Method::bicgstab,
              .precision = precision,
              .solve = {.tolerance = single ? 1e-5 : tolerance, .max_iterations = 500}};
          GpuInverter inverter(world, gauge, options, start);
          const Field<double> source = random_field(lattice, Sites::all);
          Field<double> x;
          for (int n = 0; n < 2; ++n) {
            const Inversion found = inverter.invert(source, x);
            test::require(found.solution.converged, "it did not converge: {} after {} iterations",
                          found.true_residuals[0], found.solution.iterations);
            const double off = difference(lattice, Sites::all, x, known.solution);
            test::require(off < (single ? 1e-3 : 1e-7), "the solution differs by {}", off);
            test::require(
                single || std::abs(found.solution.iterations - known.by_bicgstab) <= known.by_bicgstab / 4,
                "{} iterations, {} on the host", found.solution.iterations, known.by_bicgstab);
          }
        }
      }
    });
    EXPECT_EQ(failure, "");
  }
}

// Solves for several right-hand sides that advance together, each with its own coefficients, by every method
// and in every precision.
class QcdTogetherOnGpu : public testing::TestWithParam<std::array<int, 4>> {};

TEST_P(QcdTogetherOnGpu, AgreesWithTheHost) {
  const Together& known = reference_together();
  const Grid grid = grid_of(GetParam());
  const std::string failure = test::process_ranks("cuda")->run(grid.ranks(), [&](World& world) {
    const Lattice lattice(grid, global, world.rank());
    Gauge gauge(world, lattice);
    gauge.randomise(1);
    const auto solve = [&](Start start, Method method, Precision precision, int on_the_host) {
      const bool single = precision == Precision::single_only;
      GpuInverter inverter(
          world, gauge,
          {.wilson = {.kappa = kappa, .storage = single ? Storage::full : Storage::two_rows, .rhs = several},
           .method = method,
           .precision = precision,
           .solve = {.tolerance = single ? 1e-5 : tolerance, .max_iterations = 500}},
          start);
      Field<double> out, x;
      for (const bool dagger : {false, true}) {
        inverter.apply(random_field(lattice, Sites::even, several), out, dagger);
        const double off = difference(lattice, Sites::even, out, dagger ? known.adjoint : known.applied);
        test::require(off < (precision == Precision::double_only ? 1e-13 : 2e-5),
                      "an application differs by {}", off);
      }
      for (int n = 0; n < 2; ++n) {
        const Inversion found = inverter.invert(random_field(lattice, Sites::all, several), x);
        test::require(found.solution.converged && found.true_residuals.size() == several,
                      "it did not converge: {} after {} iterations", fmt::join(found.true_residuals, " "),
                      found.solution.iterations);
        const double off = difference(lattice, Sites::all, x, known.solution);
        test::require(off < (single ? 1e-3 : 1e-7), "the solution differs by {}", off);
        test::require(single || std::abs(found.solution.iterations - on_the_host) <= 2,
                      "{} iterations, {} on the host", found.solution.iterations, on_the_host);
      }
    };
    for (const Start start : {Start::host, Start::graph}) {
      solve(start, Method::cg, Precision::double_only, known.iterations);
      solve(start, Method::cg, Precision::mixed, known.mixed);
      solve(start, Method::bicgstab, Precision::double_only, known.by_bicgstab);
    }
    solve(Start::automatic, Method::cg, Precision::single_only, 0);
  });
  EXPECT_EQ(failure, "");
}

INSTANTIATE_TEST_SUITE_P(Gpu, QcdTogetherOnGpu,
                         testing::Values(std::array{1, 1, 1, 1}, std::array{1, 1, 1, 2},
                                         std::array{2, 1, 1, 2}),
                         [](const auto& test) { return fmt::format("{}_3", fmt::join(test.param, "x")); });

TEST(QcdOnGpus, MeasuresThePionOfTheHost) {
  const Reference& known = reference();
  for (const std::array<int, 4> shape : {std::array{1, 1, 1, 1}, {1, 1, 1, 2}}) {
    const Grid grid = grid_of(shape);
    const std::string failure = test::process_ranks("cuda")->run(grid.ranks(), [&](World& world) {
      const Lattice lattice(grid, global, world.rank());
      Gauge gauge(world, lattice);
      gauge.randomise(1);
      for (const int rhs : {1, 12}) {
        const InverterOptions options{.wilson = {.kappa = kappa, .rhs = rhs},
                                      .solve = {.tolerance = tolerance}};
        GpuInverter inverter(world, gauge, options, Start::automatic);
        const Pion found = measure_pion(
            world, lattice, options, [&](const auto& source, auto& x) { return inverter.invert(source, x); });
        for (std::size_t t = 0; t < known.pion.size(); ++t)
          test::require(std::abs(found.correlator[t] / known.pion[t] - 1) < 1e-6,
                        "at time {} it is {}, {} on the host", t, found.correlator[t], known.pion[t]);
      }
    });
    EXPECT_EQ(failure, "");
  }
}

// A solve that fails leaves values behind, which must not disturb the next one.
TEST(QcdOnGpus, SolvesBehindOneThatFailed) {
  const Reference& known = reference();
  struct Way {
    Start start;
    Method method;
    Precision precision;
  };
  for (const std::array<int, 4> shape : {std::array{1, 1, 1, 1}, {1, 1, 1, 2}}) {
    const Grid grid = grid_of(shape);
    const std::string failure = test::process_ranks("cuda")->run(grid.ranks(), [&](World& world) {
      const Lattice lattice(grid, global, world.rank());
      Gauge gauge(world, lattice);
      gauge.randomise(1);
      const Field<double> source = random_field(lattice, Sites::all);
      Field<double> without_a_number = source, x;
      without_a_number[0] = std::nan("");
      for (const Way& way : {Way{Start::kernel, Method::cg, Precision::double_only},
                             {Start::kernel, Method::cg, Precision::mixed},
                             {Start::host, Method::cg, Precision::double_only},
                             {Start::graph, Method::cg, Precision::mixed},
                             {Start::graph, Method::bicgstab, Precision::double_only}}) {
        GpuInverter inverter(world, gauge,
                             {.wilson = {.kappa = kappa},
                              .method = way.method,
                              .precision = way.precision,
                              .solve = {.tolerance = tolerance, .max_iterations = 500}},
                             way.start);
        test::require(!inverter.invert(without_a_number, x).solution.converged,
                      "what is no number converged");
        test::require(inverter.invert(source, x).solution.converged,
                      "it did not converge behind one that failed");
        const double off = difference(lattice, Sites::all, x, known.solution);
        test::require(off < 1e-7, "the solution differs by {}", off);
      }
    });
    EXPECT_EQ(failure, "");
  }
}

// The lattice has more chunks than blocks, and some chunks have no ghosts.
TEST(QcdOnGpus, SolvesLargerLattices) {
  const std::string failure = test::process_ranks("cuda")->run(2, [&](World& world) {
    const Extents extents{16, 16, 16, 16};
    const Lattice lattice(grid_of({1, 1, 1, 2}), extents, world.rank());
    Gauge gauge(world, lattice);
    gauge.randomise(2);
    for (const Start start : {Start::graph, Start::kernel}) {
      const SolveOptions solve{.tolerance = tolerance, .max_iterations = 500};
      GpuInverter inverter(world, gauge, {.wilson = {.kappa = 0.12}, .solve = solve}, start);
      // Two hops send both faces of half of the sites, 96 bytes each.
      test::require(inverter.bytes() == 2 * 2 * (16 * 16 * 16 / 2) * 96, "an application sends {} bytes",
                    inverter.bytes());
      Field<double> x;
      const Inversion found = inverter.invert(random_field(lattice, Sites::all), x);
      test::require(found.solution.converged, "it did not converge");
    }
  });
  EXPECT_EQ(failure, "");
}

TEST(QcdOnGpus, NoConvergenceIsSaid) {
  const std::string failure = test::process_ranks("cuda")->run(2, [&](World& world) {
    const Lattice lattice(grid_of({1, 1, 1, 2}), global, world.rank());
    Gauge gauge(world, lattice);
    gauge.exchange();
    struct Way {
      Start start;
      int rhs;
      Precision precision;
    };
    for (const Way& way : {Way{Start::host, 1, Precision::double_only},
                           {Start::kernel, 1, Precision::double_only},
                           {Start::graph, several, Precision::double_only},
                           {Start::graph, 1, Precision::mixed}}) {
      const SolveOptions solve{.tolerance = 1e-12, .max_iterations = 6};
      GpuInverter inverter(world, gauge,
                           {.wilson = {.kappa = 0.125, .antiperiodic = false, .rhs = way.rhs},
                            .precision = way.precision,
                            .solve = solve},
                           way.start);
      Field<double> x;
      const Inversion found = inverter.invert(random_field(lattice, Sites::all, way.rhs), x);
      test::require(!found.solution.converged, "it converged");
      test::require(found.solution.iterations == 6, "{} iterations", found.solution.iterations);
      test::require(found.solution.history.size() == 6, "no history");
    }
  });
  EXPECT_EQ(failure, "");
}

}  // namespace
}  // namespace tca::qcd
