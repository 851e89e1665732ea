// Compares plasmas on GPUs with the same on a host: with exact sums all particles are the same to the bit.
//
// Ranks are threads, so that one GPU can hold several whose kernels wait for each other.
#include <gtest/gtest.h>

#include <span>
#include <string>
#include <vector>

#include "pic/deck.hpp"
#include "pic/exchange.hpp"
#include "pic/gpu/solver.hpp"
#include "pic/measure.hpp"
#include "pic/solver.hpp"
#include "ranks.hpp"
#include "tca/error.hpp"

namespace tca::pic {
namespace {

Simulation on_host(const Deck& deck) {
  Simulation run;
  World::run_threads(1,
                     [&](World& world) {
                       Solver<std::int64_t> solver(
                           world, deck, make_grid(deck, 1, std::vector<int>(deck.extents.size(), 1)));
                       const auto exchange = direct_exchange(world, solver.exchanged());
                       Exchange* const only = exchange.get();
                       run = simulate(world, solver, std::span<Exchange* const>(&only, 1), 1);
                     },
                     {.fabric = "shm"});
  return run;
}

template <class Number>
Simulation on_gpus(const Deck& deck, int ranks, apps::Start start) {
  Simulation run;
  World::run_threads(
      ranks,
      [&](World& world) {
        GpuSolver<Number> solver(world, deck,
                                 make_grid(deck, ranks, std::vector<int>(deck.extents.size(), 0)), start);
        Exchange* const only = &solver.exchange();
        const Simulation mine = simulate<Number>(world, solver, std::span<Exchange* const>(&only, 1), 1);
        if (world.rank() == 0) run = mine;
      },
      {.fabric = "cuda"});
  return run;
}

Deck warm(const Extents& extents) {
  Deck deck = built_in("langmuir");
  deck.extents = extents;
  deck.thermal = 0.3;
  deck.steps = 30;  // more than between two sorts
  return checked(deck);
}

double worst_gauss(const Simulation& run) {
  double most = 0;
  for (const Sample& sample : run.history)
    if (!(sample.off_gauss <= most)) most = sample.off_gauss;
  return most;
}

TEST(PicOnGpus, HasTheParticlesOfTheHostToTheBit) {
  for (const Extents& extents : {Extents{16, 32}, Extents{8, 8, 16}}) {
    const Deck deck = warm(extents);
    const Simulation host = on_host(deck);
    for (const int ranks : {1, 2, 4}) {
      for (const apps::Start start : {apps::Start::host, apps::Start::graph}) {
        const Simulation run = on_gpus<std::int64_t>(deck, ranks, start);
        EXPECT_EQ(run.digest, host.digest) << describe(extents) << " " << ranks;
        EXPECT_EQ(run.history.back().particles, deck.particles());
        EXPECT_LT(worst_gauss(run), 1e-12);
      }
    }
  }
}

TEST(PicOnGpus, FastSumsConserveCharge) {
  const Deck deck = warm({16, 16});
  const Simulation run = on_gpus<double>(deck, 2, apps::Start::graph);
  EXPECT_LT(worst_gauss(run), 1e-12);
  EXPECT_EQ(run.history.back().particles, deck.particles());
}

TEST(PicOnGpus, RefusesWalls) {
  EXPECT_THROW(on_gpus<double>(checked(built_in("wakefield")), 1, apps::Start::host), Error);
}

}  // namespace
}  // namespace tca::pic
