// Tests particle-in-cell by what is known of it: Gauss's law holds by itself, any number of ranks has the same particles
// to the bit, and waves have the known frequencies and growth rates.
#include <gtest/gtest.h>

#include <cmath>
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

template <class Number = std::int64_t>
Simulation simulated(const Deck& deck, const std::vector<int>& shape) {
  Simulation run;
  int ranks = 1;
  for (const int along : shape) ranks *= along;
  World::run_threads(ranks, [&](World& world) {
    Solver<Number> solver(world, deck, make_grid(deck, ranks, shape));
    const auto exchange = direct_exchange(world, solver.exchanged());
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
  deck.steps = 30;
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
  compare(warm({8, 12}), {{1, 2}, {2, 1}, {4, 1}, {2, 2}, {1, 6}});
  compare(warm({4, 4, 8}), {{1, 1, 2}, {2, 2, 1}, {2, 2, 2}});
}

void expect_right(const Simulation& run, const Deck& deck) {
  const Finding wave = wave_in(deck, run.history);
  EXPECT_FALSE(wave.what.empty());
  EXPECT_TRUE(wave.is_right()) << wave.what << ": " << wave.found << ", known is " << wave.known << ", ratio - 1 "
                               << wave.found / wave.known - 1;
  EXPECT_LT(worst_gauss(run), 1e-12);
  EXPECT_LT(energy_drift(run.history), 0.01) << run.history.front().kinetic_energy;
}

TEST(PicWaves, LightInAVacuumHasTheFrequencyOfTheLattice) {
  const Deck deck = checked(built_in("vacuum"));
  expect_right(simulated(deck, {1, 2}), deck);
}

TEST(PicWaves, ColdPlasmaOscillatesWithItsFrequency) {
  Deck deck = built_in("langmuir");
  deck.extents = {4, 64};
  deck = checked(deck);
  expect_right(simulated(deck, {1, 2}), deck);
  expect_right(simulated<double>(deck, {1, 1}), deck);
  deck.extents = {4, 4, 64};
  expect_right(simulated(checked(deck), {1, 1, 2}), checked(deck));
}

TEST(PicWaves, TwoBeamsGrowUnstable) {
  Deck deck = built_in("two-stream");
  deck.extents = {4, 64};
  deck = checked(deck);
  expect_right(simulated(deck, {1, 2}), deck);
}

}  // namespace
}  // namespace tca::pic
