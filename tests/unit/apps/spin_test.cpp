// Tests the spin glass by what is known of it: any number of ranks has the same spins to the bit, over-relaxation keeps
// the energy, and at equilibrium energies are the exact ones.
#include <gtest/gtest.h>

#include <cmath>
#include <map>
#include <mutex>
#include <span>
#include <vector>

#include "spin/elementary.hpp"
#include "spin/exchange.hpp"
#include "spin/lattice.hpp"
#include "spin/measure.hpp"
#include "spin/solver.hpp"
#include "spin/way.hpp"
#include "tca/error.hpp"
#include "tca/grid.hpp"
#include "tca/world.hpp"

namespace tca::spin {
namespace {

TEST(SpinElementary, AgreesWithTheLibrary) {
  for (double x = 1e-10; x <= 1; x *= 1.37) {
    EXPECT_NEAR(exact_log(x), std::log(x), 1e-14 * (1 + std::abs(std::log(x)))) << x;
    EXPECT_NEAR(exact_exp(-100 * x) / std::exp(-100 * x), 1, 1e-13) << x;
    EXPECT_NEAR(exact_turn(x).cosine, std::cos(2 * 3.1415926535897932385 * x), 1e-14) << x;
    EXPECT_NEAR(exact_turn(x).sine, std::sin(2 * 3.1415926535897932385 * x), 1e-14) << x;
  }
  EXPECT_EQ(exact_log(1), 0);
  EXPECT_EQ(exact_exp(0), 1);
  EXPECT_EQ(exact_exp(-1000), 0);
}

// All spins of all replicas after two rounds, by site.
template <class Real>
std::map<std::int64_t, std::vector<Real>> spins_after(const Problem& problem, const std::vector<int>& shape,
                                                      bool overlap) {
  std::map<std::int64_t, std::vector<Real>> all;
  std::mutex mutex;
  const int ranks = shape[0] * shape[1] * shape[2];
  World::run_threads(ranks, [&](World& world) {
    Lattice<Real> lattice(world, problem, make_grid(problem, ranks, shape));
    const auto exchange = direct_exchange(world, lattice);
    Solver<Real> solver(world, lattice);
    for (int round = 0; round < 2; ++round) {
      solver.sweep(Update::heat_bath, *exchange, overlap);
      solver.sweep(Update::over_relaxation, *exchange, overlap);
    }
    const std::lock_guard lock(mutex);
    const Share& share = lattice.share();
    const Extents& cells = share.cells();
    for (int colour = 0; colour < 2; ++colour) {
      for (std::int64_t z = 0; z < cells[0]; ++z) {
        for (std::int64_t y = 0; y < cells[1]; ++y) {
          for (std::int64_t h = 0; h < cells[2]; ++h) {
            std::vector<Real>& spin = all[problem.site(share.site_of(colour, z, y, h))];
            for (int replica = 0; replica < problem.replicas; ++replica) {
              const Vector<Real> one = lattice.spin(colour, {z, y, h}, replica);
              spin.insert(spin.end(), {one.x, one.y, one.z});
            }
          }
        }
      }
    }
  });
  return all;
}

TEST(Spin, IsTheSameToTheBitOnAnyGrid) {
  const Problem problem{.extents = {6, 4, 12}, .beta = 0.7, .replicas = 2, .seed = 5};
  const auto alone = spins_after<float>(problem, {1, 1, 1}, false);
  ASSERT_EQ(alone.size(), 6U * 4U * 12U);
  for (const std::vector<int>& shape : std::vector<std::vector<int>>{
           {2, 1, 1}, {1, 2, 1}, {1, 1, 2}, {3, 1, 1}, {1, 1, 4}, {2, 2, 2}, {6, 1, 1}, {1, 1, 6}})
    EXPECT_EQ(spins_after<float>(problem, shape, shape[0] != 3), alone)
        << shape[0] << "x" << shape[1] << "x" << shape[2];
  EXPECT_EQ(spins_after<double>(problem, {2, 1, 3}, true), spins_after<double>(problem, {1, 1, 1}, true));
}

Simulation simulated(const Problem& problem, const std::vector<int>& shape, const Plan& plan) {
  Simulation run;
  const int ranks = shape[0] * shape[1] * shape[2];
  World::run_threads(ranks, [&](World& world) {
    Lattice<double> lattice(world, problem, make_grid(problem, ranks, shape));
    const auto exchange = direct_exchange(world, lattice);
    Solver<double> solver(world, lattice);
    const auto way = host_way(solver, *exchange, true);
    Way* const only = way.get();
    const Simulation mine = simulate(world, problem, std::span<Way* const>(&only, 1), plan);
    if (world.rank() == 0) run = mine;
  });
  return run;
}

TEST(Spin, OverRelaxationKeepsTheEnergy) {
  const Simulation run = simulated({.extents = {8, 8, 8}, .beta = 1}, {2, 1, 1},
                                   {.rounds = 2, .heat_baths = 1, .over_relaxations = 100});
  EXPECT_LT(run.physics.drift, 1e-13);
  EXPECT_LT(run.physics.off_unit, 1e-12);
  EXPECT_LT(run.physics.energy.value, -0.1);  // it is not all zero
}

// Long rings without couplings between them, and as cold as to be far from a random state.
TEST(SpinAtEquilibrium, RingsHaveTheExactEnergy) {
  const Problem problem{.extents = {8, 8, 32}, .beta = 2, .couplings = Couplings::rings, .seed = 3};
  const Simulation run =
      simulated(problem, {1, 1, 1}, {.rounds = 400, .heat_baths = 1, .over_relaxations = 1});
  EXPECT_NEAR(energy_of_rings(2), -0.53731, 1e-5);
  EXPECT_GT(run.physics.energy.error, 0);
  EXPECT_LT(run.physics.energy.error, 0.005);
  EXPECT_NEAR(run.physics.energy.value, energy_of_rings(2), 6 * run.physics.energy.error);
}

// What partial integration over the couplings gives holds in the mean over couplings, which a lattice has many of.
TEST(SpinAtEquilibrium, EnergyFollowsFromOverlaps) {
  const Problem problem{.extents = {8, 8, 8}, .beta = 0.5, .replicas = 2, .seed = 7};
  const Simulation run =
      simulated(problem, {1, 1, 1}, {.rounds = 600, .heat_baths = 1, .over_relaxations = 2});
  EXPECT_NEAR(run.physics.energy.value, run.physics.energy_by_overlaps(problem.beta), 0.02);
  EXPECT_LT(run.physics.energy.value, -0.4);
}

// Who changes places follows from energies, which are added up in another order on every grid.
TEST(Spin, TemperaturesChangePlacesAlikeOnAnyGrid) {
  const Problem problem{.extents = {4, 6, 8}, .replicas = 3, .temperatures = {0.9, 1, 1.1}, .seed = 9};
  const Plan plan{.rounds = 32, .heat_baths = 1, .over_relaxations = 1};
  const auto alone = simulated(problem, {1, 1, 1}, plan).physics.temperatures;
  ASSERT_EQ(alone.size(), 3U);
  for (const std::vector<int>& shape : std::vector<std::vector<int>>{{2, 1, 1}, {1, 3, 2}}) {
    const auto found = simulated(problem, shape, plan).physics.temperatures;
    for (std::size_t i = 0; i < alone.size(); ++i) {
      EXPECT_EQ(found[i].energy.value, alone[i].energy.value) << i;
      EXPECT_EQ(found[i].acceptance, alone[i].acceptance) << i;
    }
  }
  for (std::size_t i = 0; i < 2; ++i) {
    EXPECT_GT(alone[i].acceptance, 0) << i;
    EXPECT_LT(alone[i].acceptance, 1) << i;
  }
}

TEST(SpinAtEquilibrium, TemperedRingsHaveTheExactEnergies) {
  const Problem problem{.extents = {4, 4, 32},
                        .couplings = Couplings::rings,
                        .replicas = 3,
                        .temperatures = {0.45, 0.5, 0.55},
                        .seed = 3};
  const Simulation run =
      simulated(problem, {1, 1, 1}, {.rounds = 800, .heat_baths = 1, .over_relaxations = 1});
  for (const auto& [temperature, energy, energies, acceptance] : run.physics.temperatures) {
    EXPECT_GT(energy.error, 0) << temperature;
    EXPECT_NEAR(energy.value, energy_of_rings(1 / temperature), 6 * energy.error) << temperature;
  }
  EXPECT_GT(run.physics.temperatures[0].acceptance, 0.05);
}

TEST(Spin, RefusesWhatACheckerboardDoesNotFit) {
  EXPECT_THROW(check({.extents = {8, 7, 8}}), Error);
  EXPECT_THROW(check({.extents = {0, 8, 8}}), Error);
  EXPECT_THROW(check({.beta = 0}), Error);
  EXPECT_THROW(check({.replicas = 2, .temperatures = {1, 0.5}}), Error);
  EXPECT_THROW(check({.replicas = most_replicas + 1}), Error);
  EXPECT_THROW(make_grid({.extents = {4, 4, 4}}, 3, {1, 1, 3}), Error);
}

}  // namespace
}  // namespace tca::spin
