// Tests particle-in-cell by what is known of it: Gauss's law holds by itself, any number of ranks has the same particles
// to the bit, and waves have the known frequencies and growth rates.
#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <span>
#include <string>
#include <vector>

#include "pic/deck.hpp"
#include "pic/domain.hpp"
#include "pic/exchange.hpp"
#include "pic/measure.hpp"
#include "pic/physics.hpp"
#include "pic/solver.hpp"
#include "tca/error.hpp"
#include "tca/world.hpp"

namespace tca::pic {
namespace {

// With so much room for particles to each neighbour, or as much as the solver makes.
template <class Number = std::int64_t>
Simulation simulated(const Deck& deck, const std::vector<int>& shape, std::int64_t room = 0) {
  Simulation run;
  int ranks = 1;
  for (const int along : shape) ranks *= along;
  World::run_threads(ranks, [&](World& world) {
    Solver<Number> solver(world, deck, make_grid(deck, ranks, shape));
    Exchanged<Number> exchanged = solver.exchanged();
    if (room > 0) exchanged.room = room;
    const auto exchange = direct_exchange(world, exchanged);
    Exchange* const only = exchange.get();
    const Simulation mine = simulate(world, solver, std::span<Exchange* const>(&only, 1), 1);
    if (world.rank() == 0) run = mine;
  });
  return run;
}

double worst_gauss(const Simulation& run) {
  double most = 0;
  for (const Sample& sample : run.history)
    if (!(sample.off_gauss <= most)) most = sample.off_gauss;
  return most;
}

Deck warm(const Extents& extents) {
  Deck deck = built_in("langmuir");
  deck.extents = extents;
  deck.thermal = 0.3;
  deck.steps = 8;
  return checked(deck);
}

std::string said(const std::vector<int>& shape) {
  std::string text;
  for (const int along : shape) text += std::to_string(along) + " ";
  return text;
}

TEST(Pic, HasTheSameParticlesToTheBitOnAnyGrid) {
  const auto compare = [](const Deck& deck, const std::vector<std::vector<int>>& shapes) {
    const Simulation alone = simulated(deck, std::vector<int>(deck.extents.size(), 1));
    EXPECT_LT(worst_gauss(alone), 1e-13);
    EXPECT_GT(alone.history.back().kinetic_energy, 1);
    for (const std::vector<int>& shape : shapes) {
      const Simulation run = simulated(deck, shape);
      EXPECT_EQ(run.digest, alone.digest) << said(shape);
      EXPECT_LT(worst_gauss(run), 1e-13) << said(shape);
      EXPECT_EQ(run.history.back().particles, deck.particles()) << said(shape);
    }
  };
  compare(warm({8, 12}), {{2, 1}, {2, 2}, {1, 3}});
  compare(warm({4, 4, 8}), {{1, 1, 2}, {2, 1, 2}});
}

TEST(Pic, ParticlesThatDoNotFitGoInFurtherRounds) {
  const Deck deck = warm({8, 12});
  const Simulation run = simulated(deck, {2, 1}, 3);
  EXPECT_GT(run.most_rounds, 2);
  EXPECT_EQ(run.digest, simulated(deck, {1, 1}).digest);
}

// Electrons of 0.98 c along a diagonal of the box cross corners, all at once.
TEST(Pic, FastSumsConserveChargeAcrossCorners) {
  Deck deck = warm({8, 8});
  deck.thermal = 3;
  deck.cfl = 0.99;
  const Simulation run = simulated<double>(deck, {2, 2});
  EXPECT_LT(worst_gauss(run), 1e-13);
  EXPECT_EQ(run.history.back().particles, deck.particles());
}

TEST(Pic, MomentaThatAreNoNumbersEndTheRun) {
  Deck deck = warm({4, 8});
  deck.thermal = 1e200;
  EXPECT_THROW(simulated(deck, {1, 1}), Error);
}

TEST(Pic, WallsAbsorbElectronsAndCountThem) {
  Deck deck = built_in("wakefield");
  deck.extents = {4, 48};
  deck.per_side = 1;
  deck.thermal = 3;
  deck.plasma_begins = 0;
  deck.laser.spot = 0;
  deck.steps = 20;
  deck = checked(deck);
  const Simulation run = simulated(deck, {1, 2});
  EXPECT_GT(run.history.back().absorbed, 10);
  EXPECT_EQ(run.history.back().absorbed + run.history.back().particles, run.history.front().particles);
  EXPECT_LT(worst_gauss(run), 1e-12);
  EXPECT_EQ(run.digest, simulated(deck, {1, 1}).digest);
}

TEST(Pic, RefusesWhatCannotBeSimulated) {
  EXPECT_THROW(built_in("tokamak"), Error);
  const auto refused = [](const auto& change) {
    Deck deck = built_in("wakefield");
    change(deck);
    EXPECT_THROW(checked(deck), Error);
  };
  refused([](Deck& deck) { deck.cfl = 1; });
  refused([](Deck& deck) { deck.drift = 1; });
  refused([](Deck& deck) { deck.walls = false; });
  refused([](Deck& deck) { deck.laser.omega = 20; });
  refused([](Deck& deck) { deck.extents = {64}; });
  refused([](Deck& deck) { deck.waves = 300; });
  EXPECT_THROW(make_grid(built_in("langmuir"), 3, {0, 0}), Error);
  EXPECT_THROW(make_grid(built_in("langmuir"), 32, {32, 1}), Error);
}

void expect_right(const Simulation& run, const Deck& deck) {
  const Finding wave = wave_in(deck, run);
  EXPECT_FALSE(wave.what.empty());
  EXPECT_TRUE(wave.is_right()) << wave.what << ": " << wave.found << ", known is " << wave.known
                               << ", ratio - 1 " << wave.found / wave.known - 1;
  EXPECT_LT(worst_gauss(run), 1e-12);
  EXPECT_LT(energy_drift(run.history), 0.01) << run.history.front().kinetic_energy;
}

TEST(PicWaves, LightInAVacuumHasTheFrequencyOfTheLattice) {
  const Deck deck = checked(built_in("vacuum"));
  expect_right(simulated(deck, {1, 1}), deck);
}

// When the pulse has gone through both walls, next to nothing is left of it.
TEST(PicWaves, WallsLetLightOut) {
  Deck deck = built_in("wakefield");
  deck.extents = {4, 96};
  deck.per_side = 0;
  deck.laser.spot = 0;
  deck.steps = 320;
  const Simulation light = simulated(checked(deck), {1, 1});
  double most = 0;
  for (const Sample& sample : light.history) most = std::max(most, sample.field_energy);
  EXPECT_GT(most, 50);
  EXPECT_LT(light.history.back().field_energy, 1e-3 * most);
}

TEST(PicWaves, ColdPlasmaOscillatesWithItsFrequency) {
  Deck deck = built_in("langmuir");
  deck.extents = {4, 64};
  deck = checked(deck);
  expect_right(simulated<double>(deck, {1, 1}), deck);
  deck.extents = {4, 4, 64};
  deck.steps = 120;
  expect_right(simulated(checked(deck), {1, 1, 1}), checked(deck));
}

TEST(PicWaves, TwoBeamsGrowUnstable) {
  Deck deck = built_in("two-stream");
  deck.extents = {4, 64};
  deck = checked(deck);
  expect_right(simulated(deck, {1, 1}), deck);
}

}  // namespace
}  // namespace tca::pic
