// Compares plasmas on GPUs with the same on a host: with exact sums all particles are the same to the bit.
//
// Ranks are threads, so that one GPU can hold several whose kernels wait for each other.
#include <gtest/gtest.h>

#include <array>
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
Simulation on_gpus(const Deck& deck, int ranks, const GpuOptions& options, std::int64_t check_every = 1,
                   std::vector<int> shape = {}) {
  Simulation run;
  shape.resize(deck.extents.size());
  World::run_threads(ranks,
                     [&](World& world) {
                       GpuSolver<Number> solver(world, deck, make_grid(deck, ranks, shape), options);
                       Exchange* const only = &solver.exchange();
                       const Simulation mine =
                           simulate<Number>(world, solver, std::span<Exchange* const>(&only, 1), check_every);
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

// Sums of doubles are rounded in another order on GPUs.
void expect_same(const Simulation& run, const Simulation& host) {
  EXPECT_EQ(run.digest, host.digest);
  ASSERT_EQ(run.history.size(), host.history.size());
  EXPECT_LT(worst_gauss(run), 1e-12);
  // What the host has before the first step is no kinetic energy either.
  for (std::size_t n = 0; n < host.history.size(); ++n) {
    const Sample &mine = run.history[n], &known = host.history[n];
    const auto expect_near = [&](double value, double right, double scale) {
      EXPECT_NEAR(value, right, 1e-12 * scale) << "step " << n;
    };
    expect_near(mine.field_energy, known.field_energy, known.field_energy + 1e-30);
    expect_near(mine.kinetic_energy, known.kinetic_energy, known.kinetic_energy);
    expect_near(mine.sine, known.sine, 1);
    expect_near(mine.cosine, known.cosine, 1);
    EXPECT_EQ(mine.particles, known.particles) << "step " << n;
    EXPECT_EQ(mine.absorbed, known.absorbed) << "step " << n;
  }
}

constexpr std::array starts{apps::Start::host, apps::Start::graph, apps::Start::kernel};

TEST(PicOnGpus, HasTheParticlesOfTheHostToTheBit) {
  for (const Extents& extents : {Extents{16, 32}, Extents{8, 8, 16}}) {
    const Deck deck = warm(extents);
    const Simulation host = on_host(deck);
    for (const int ranks : {1, 2, 4})
      for (const apps::Start start : starts) {
        SCOPED_TRACE(describe(extents) + ", ranks " + std::to_string(ranks) + ", " +
                     std::string(name_of(start)));
        // A kernel takes many steps between two checks.
        expect_same(
            on_gpus<std::int64_t>(deck, ranks, {.start = start}, start == apps::Start::kernel ? 7 : 1), host);
      }
  }
}

TEST(PicOnGpus, ParticlesThatDoNotFitGoInFurtherRounds) {
  const Deck deck = warm({8, 12});
  const Simulation host = on_host(deck);
  for (const apps::Start start : starts) {
    SCOPED_TRACE(name_of(start));
    const Simulation run = on_gpus<std::int64_t>(deck, 2, {.start = start, .room = 3}, 5, {2, 1});
    EXPECT_GT(run.most_rounds, 2);
    expect_same(run, host);
  }
}

TEST(PicOnGpus, WallsAbsorbElectronsAndLightAsOnTheHost) {
  Deck deck = built_in("wakefield");
  deck.extents = {4, 48};
  deck.per_side = 1;
  deck.thermal = 3;
  deck.plasma_begins = 0;
  deck.steps = 60;
  deck = checked(deck);
  const Simulation host = on_host(deck);
  EXPECT_GT(host.history.back().absorbed, 10);
  for (const apps::Start start : starts) {
    SCOPED_TRACE(name_of(start));
    expect_same(on_gpus<std::int64_t>(deck, 2, {.start = start}, 10, {1, 2}), host);
  }
}

TEST(PicOnGpus, FastSumsConserveCharge) {
  const Deck deck = warm({16, 16});
  for (const apps::Start start : starts) {
    const Simulation run = on_gpus<double>(deck, 2, {.start = start});
    EXPECT_LT(worst_gauss(run), 1e-12);
    EXPECT_EQ(run.history.back().particles, deck.particles());
  }
}

TEST(PicOnGpus, MomentaThatAreNoNumbersEndTheRun) {
  Deck deck = warm({4, 8});
  deck.thermal = 1e200;
  EXPECT_THROW(on_gpus<std::int64_t>(deck, 1, {}), Error);
}

}  // namespace
}  // namespace tca::pic
