// Tests the solvers: true residuals, methods, precisions and preconditionings against each other, and
// equations without a solution.
#include <gtest/gtest.h>

#include <cmath>
#include <complex>
#include <limits>
#include <string>

#include "qcd/operators/staggered.hpp"
#include "qcd/pion.hpp"
#include "qcd/solver/inverter.hpp"
#include "qcd/spinor.hpp"
#include "qcd_lab.hpp"
#include "tca/error.hpp"

namespace tca::qcd {
namespace {

using test::gathered;
using test::largest_difference;
using test::on_grid;
using test::random_field;
using test::Shape4;
using test::small;

struct Outcome {
  std::vector<double> x;
  Inversion inversion;
};

Outcome solved(const Shape4& shape, const InverterOptions& options) {
  Outcome outcome;
  on_grid(shape, small, [&](World& world, const Lattice& lattice, Gauge& gauge) {
    Inverter inverter(world, gauge, options);
    const Field<double> source = random_field<double>(lattice, Sites::all, options.wilson.rhs, spinor_reals);
    Field<double> x(source.size());
    const Inversion inversion = inverter.invert(source, x);
    const std::vector<double> all = gathered(world, lattice, Sites::all, x);
    if (world.rank() == 0) outcome = {all, inversion};
  });
  return outcome;
}

InverterOptions options_for(double tolerance) {
  InverterOptions options;
  options.wilson.kappa = 0.13;
  options.solve.tolerance = tolerance;
  return options;
}

// The equation is well conditioned, so a residual of 1e-10 means an error of about that size in the solution.
TEST(QcdSolver, EveryWayGivesTheSameSolution) {
  const Outcome plain = solved({1, 1, 1, 1}, options_for(1e-11));
  EXPECT_LE(plain.inversion.true_residuals.at(0), 1e-11);
  // 28 at this kappa. With a wrong direction the solver still converges, but takes longer.
  EXPECT_LE(plain.inversion.solution.iterations, 31);
  for (const bool even_odd : {true, false}) {
    for (const Method method : {Method::cg, Method::bicgstab}) {
      for (const Precision precision : {Precision::double_only, Precision::mixed}) {
        if (method == Method::bicgstab && precision == Precision::mixed) continue;
        InverterOptions options = options_for(1e-11);
        options.wilson.even_odd = even_odd;
        options.method = method;
        options.precision = precision;
        const Outcome other = solved({1, 1, 2, 1}, options);
        ASSERT_TRUE(other.inversion.solution.converged);
        EXPECT_LE(other.inversion.true_residuals.at(0), 1e-11);
        EXPECT_LT(largest_difference(other.x, plain.x), 1e-9);
      }
    }
  }
}

TEST(QcdSolver, EveryGridGivesTheSameSolution) {
  const Outcome alone = solved({1, 1, 1, 1}, options_for(1e-11));
  for (const Shape4& shape : {Shape4{2, 1, 1, 1}, Shape4{1, 2, 1, 2}, Shape4{2, 2, 2, 1}}) {
    const Outcome other = solved(shape, options_for(1e-11));
    EXPECT_LT(largest_difference(other.x, alone.x), 1e-10);
    EXPECT_NEAR(other.inversion.solution.iterations, alone.inversion.solution.iterations, 1);
  }
}

TEST(QcdSolver, SinglePrecisionReachesWhatItCan) {
  InverterOptions options = options_for(1e-5);
  options.precision = Precision::single_only;
  const Outcome outcome = solved({1, 1, 1, 2}, options);
  EXPECT_LE(outcome.inversion.true_residuals.at(0), 1e-5);
  EXPECT_GT(outcome.inversion.true_residuals.at(0), 1e-9);
  options.solve.tolerance = 1e-9;
  EXPECT_THROW(solved({1, 1, 1, 1}, options), Error);
}

TEST(QcdSolver, MixedPrecisionNeedsItsUpdates) {
  InverterOptions options = options_for(1e-12);
  options.precision = Precision::mixed;
  const Outcome outcome = solved({1, 1, 1, 1}, options);
  EXPECT_LE(outcome.inversion.true_residuals.at(0), 1e-12);
  EXPECT_GE(outcome.inversion.solution.updates, 3);
}

// Right-hand sides that advance together do not influence each other: the answers are those of separate
// solves.
TEST(QcdSolver, SeveralRightHandSidesTogether) {
  InverterOptions together = options_for(1e-11);
  together.wilson.rhs = 3;
  const Outcome all = solved({1, 1, 2, 1}, together);
  ASSERT_EQ(all.inversion.true_residuals.size(), 3U);
  for (std::size_t r = 0; r < 3; ++r) {
    EXPECT_LE(all.inversion.true_residuals[r], 1e-11);
    on_grid({1, 1, 1, 1}, small, [&](World& world, const Lattice& lattice, Gauge& gauge) {
      const Field<double> three = random_field<double>(lattice, Sites::all, 3, spinor_reals);
      const auto picked = [&](const auto& field) {
        Field<double> one;
        for (std::size_t i = 0; i < field.size(); ++i)
          if (i / spinor_reals % 3 == r) one.push_back(field[i]);
        return one;
      };
      Inverter inverter(world, gauge, options_for(1e-11));
      Field<double> x(inverter.shape().size());
      inverter.invert(picked(three), x);
      Field<double> whole;
      for (std::int64_t s = 0; s < lattice.volume(); ++s)
        for (int i = 0; i < 3 * spinor_reals; ++i)
          whole.push_back(all.x[static_cast<std::size_t>(lattice.global_index(s) * 3 * spinor_reals + i)]);
      const Field<double> expected = picked(whole);
      for (std::size_t i = 0; i < x.size(); ++i) ASSERT_NEAR(x[i], expected[i], 1e-9);
    });
  }
}

// Without links and with time periodic, the equation is singular at kappa = 1/8: the constant spinor is a
// null vector.
TEST(QcdSolver, SaysSoWhenThereIsNoConvergence) {
  World::run_threads(1, [](World& world) {
    const Lattice lattice(test::grid_of({1, 1, 1, 1}), small, world.rank());
    Gauge gauge(world, lattice);
    gauge.exchange();
    InverterOptions options = options_for(1e-9);
    options.wilson.kappa = 0.125;
    options.wilson.antiperiodic = false;
    options.solve.max_iterations = 200;
    Inverter inverter(world, gauge, options);
    const Field<double> source = random_field<double>(lattice, Sites::all, 1, spinor_reals);
    Field<double> x(source.size());
    const Inversion inversion = inverter.invert(source, x);
    EXPECT_FALSE(inversion.solution.converged);
    EXPECT_GT(inversion.true_residuals.at(0), 1e-3);
    EXPECT_EQ(inversion.solution.history.size(), static_cast<std::size_t>(inversion.solution.iterations));
  });
}

TEST(QcdSolver, WhatIsNoNumberIsNotConverged) {
  const double none = std::nan("");
  EXPECT_EQ(largest({1, 3, 2}), 3);
  for (const Numbers& reached : {Numbers{none, 1e-12}, Numbers{1e-12, none}, Numbers{1e-12, none, 1e-3}}) {
    EXPECT_TRUE(std::isnan(largest(reached)));
    const auto attempt = [&](const SolveOptions&) { return Solution{.converged = true, .iterations = 1}; };
    const Inversion inversion = attempt_until_true({.tolerance = 1e-9}, attempt, [&] { return reached; });
    EXPECT_FALSE(inversion.solution.converged);
    EXPECT_EQ(inversion.solution.iterations, 1) << "it will not become one";
  }
}

// Checks <a, D b> = <D^dagger a, b> and D + D^dagger = 2m, and compares several ranks with one.
TEST(QcdStaggered, IsAMassAndAnAntiHermitianDerivative) {
  std::vector<double> alone;
  for (const Shape4& shape :
       {Shape4{1, 1, 1, 1}, Shape4{2, 1, 1, 1}, Shape4{1, 2, 2, 1}, Shape4{1, 1, 1, 4}}) {
    on_grid(shape, small, [&](World& world, const Lattice& lattice, Gauge& gauge) {
      Staggered<double> d(world, gauge, {.mass = 0.3, .storage = Storage::full});
      const Field<double> a = random_field<double>(lattice, Sites::all, 1, colour_reals, 1);
      const Field<double> b = random_field<double>(lattice, Sites::all, 1, colour_reals, 2);
      Field<double> da(a.size()), db(a.size()), dagger_a(a.size());
      d.apply(a, da, false);
      d.apply(a, dagger_a, true);
      d.apply(b, db, false);
      for (std::size_t i = 0; i < a.size(); ++i) ASSERT_NEAR(da[i] + dagger_a[i], 0.6 * a[i], 1e-12);
      Phases left = dots(d.shape(), a, db), right = dots(d.shape(), dagger_a, b);
      AllReduce<double> sum(world, "test", 4);
      std::array<double, 4> both{left[0].re, left[0].im, right[0].re, right[0].im};
      sum.reduce_in_place(both);
      EXPECT_NEAR(both[0], both[2], 1e-10);
      EXPECT_NEAR(both[1], both[3], 1e-10);
      const std::vector<double> all = gathered(world, lattice, Sites::all, da);
      if (world.rank() != 0) return;
      if (alone.empty()) alone = all;
      EXPECT_EQ(largest_difference(all, alone), 0);
    });
  }
}

// Without links, D^dagger D of a plane wave is m^2 + sum sin^2 p.
TEST(QcdStaggered, HasTheFreeSpectrum) {
  World::run_threads(2, [](World& world) {
    const Lattice lattice(test::grid_of({1, 1, 1, 2}), {4, 4, 8, 6}, world.rank());
    Gauge gauge(world, lattice);
    Staggered<double> d(world, gauge, {.mass = 0.2});
    const double pi = std::acos(-1.0);
    const std::array<double, 4> p{pi / 2, 0, pi / 4, pi * 3 / 6};
    double expected = 0.04;
    for (const double one : p) expected += std::sin(one) * std::sin(one);
    Field<double> chi(d.shape().size(), 0), half(chi.size()), out(chi.size());
    for (std::int64_t s = 0; s < lattice.volume(); ++s) {
      double phase = 0;
      for (std::size_t mu = 0; mu < 4; ++mu)
        phase += p[mu] * static_cast<double>(lattice.global_coordinates(s)[mu]);
      chi[static_cast<std::size_t>(s * colour_reals)] = std::cos(phase);
      chi[static_cast<std::size_t>(s * colour_reals + 1)] = std::sin(phase);
    }
    d.apply(chi, half, false);
    d.apply(half, out, true);
    for (std::size_t i = 0; i < chi.size(); ++i) ASSERT_NEAR(out[i], expected * chi[i], 1e-12);
  });
}

TEST(QcdStaggered, IsSolvedByTheSameCg) {
  on_grid({1, 2, 1, 1}, small, [](World& world, const Lattice& lattice, Gauge& gauge) {
    Staggered<double> d(world, gauge, {.mass = 0.5});
    Sums sums(world, 2);
    const Field<double> b = random_field<double>(lattice, Sites::all, 1, colour_reals);
    Field<double> x(b.size(), 0);
    EXPECT_TRUE(solve_cg(d, sums, b, x, {.tolerance = 1e-10}).converged);
    EXPECT_LE(true_residuals(d, sums, b, x).at(0), 2e-10);
  });
}

// Solves in every precision, with several right-hand sides, and on a grid whose ranks have odd extents.
TEST(QcdStaggered, IsInvertedAsWilsonsIs) {
  on_grid({2, 1, 1, 1}, {6, 4, 4, 4}, [](World& world, const Lattice& lattice, Gauge& gauge) {
    for (const Precision precision : {Precision::double_only, Precision::mixed, Precision::single_only}) {
      const double tolerance = precision == Precision::single_only ? 1e-5 : 1e-10;
      InverterOptions options{.precision = precision, .solve = {.tolerance = tolerance}};
      options.staggered = {.mass = 0.5, .rhs = 2};
      Inverter inverter(world, gauge, options);
      ASSERT_EQ(inverter.shape().reals, std::size_t{colour_reals});
      const Field<double> b = random_field<double>(lattice, Sites::all, 2, colour_reals);
      Field<double> x;
      const Inversion found = inverter.invert(b, x);
      EXPECT_TRUE(found.solution.converged);
      EXPECT_EQ(found.solution.updates > 0, precision == Precision::mixed);
      Staggered<double> d(world, gauge, *options.staggered);
      Sums sums(world, 2);
      const Numbers residuals = true_residuals(d, sums, b, x);
      EXPECT_EQ(residuals, found.true_residuals);
      EXPECT_LE(largest(residuals), tolerance);
      EXPECT_EQ(found.flops, 2.0 * found.solution.iterations * 2 * 384 * (570 + 12));
    }
  });
}

TEST(QcdStaggered, RefusesWhatItDoesNotDo) {
  InverterOptions options{.method = Method::bicgstab};
  options.staggered.emplace();
  EXPECT_THROW(check(options), Error);
  EXPECT_THROW(require_even_extents({4, 4, 5, 4}), Error);
}

// Without links, quarks of zero momentum have mass m = log(1 + (1/kappa - 8)/2). Far from the source, the
// pion has both quarks at their lowest momenta, and about twice that mass.
TEST(QcdPion, OfFreeQuarksWeighsTwoOfThem) {
  World::run_threads(2, [](World& world) {
    const Lattice lattice(test::grid_of({1, 1, 1, 2}), {4, 4, 4, 16}, world.rank());
    Gauge gauge(world, lattice);
    InverterOptions options = options_for(1e-10);
    options.wilson.kappa = 0.11;
    options.wilson.rhs = 4;
    options.wilson.antiperiodic = false;
    const Pion pion = measure_pion(world, gauge, options);
    ASSERT_EQ(pion.correlator.size(), 16U);
    for (std::size_t t = 1; t < 16; ++t)
      EXPECT_NEAR(pion.correlator[t] / pion.correlator[16 - t], 1, 1e-7) << t;
    const double quark = std::log1p((1 / 0.11 - 8) / 2);
    EXPECT_NEAR(pion.mass[7], 2 * quark, 0.02 * quark);
  });
}

std::string said_without_convergence(const Numbers& residuals) {
  std::string said;
  on_grid({1, 1, 1, 1}, small, [&](World& world, const Lattice& lattice, Gauge&) {
    InverterOptions options = options_for(1e-9);
    options.wilson.rhs = static_cast<int>(residuals.size());
    try {
      measure_pion(world, lattice, options, [&](const Field<double>&, Field<double>&) {
        return Inversion{.solution = {.iterations = 17}, .true_residuals = residuals};
      });
    } catch (const NotConverged& error) {
      said = error.what();
    }
  });
  return said;
}

TEST(QcdPion, NamesTheResidualThatIsTooLarge) {
  EXPECT_NE(
      said_without_convergence({1e-12, 2.5e-3, 1e-10}).find("after 17 iterations, the residual is 2.5e-03"),
      std::string::npos);
  for (const double none : {std::nan(""), std::numeric_limits<double>::infinity()}) {
    const std::string said = said_without_convergence({1e-12, none, 1e-10});
    EXPECT_NE(said.find("the residual is no finite number"), std::string::npos) << said;
  }
}

TEST(QcdPion, MassIsThatOfACosh) {
  std::vector<double> correlator;
  for (int t = 0; t < 12; ++t) correlator.push_back(3 * std::cosh(0.37 * (6 - t)));
  const std::vector<double> masses = cosh_masses(correlator);
  EXPECT_TRUE(std::isnan(masses.front()));
  for (std::size_t t = 1; t < 11; ++t) EXPECT_NEAR(masses[t], 0.37, 1e-12);
}

}  // namespace
}  // namespace tca::qcd
