// Compares the spin glass on GPUs with that of one rank on a host, to the bit, for every decomposition and every way to start.
//
// Ranks are processes. Where they share a GPU they take turns on it (docs/gpu.md).
#include <gtest/gtest.h>

#include <array>
#include <cmath>
#include <map>
#include <memory>
#include <string>
#include <vector>

#include "ranks.hpp"
#include "spin/exchange.hpp"
#include "spin/gpu/exchange.hpp"
#include "spin/gpu/lattice.hpp"
#include "spin/gpu/way.hpp"
#include "spin/lattice.hpp"
#include "spin/measure.hpp"
#include "spin/solver.hpp"
#include "spin/way.hpp"

namespace tca::spin {
namespace {

// Some phases, and what is measured behind each. Drawing and reflecting take turns, so that each finds what the other has left.
struct Step {
  Update update;
  int sweeps;
};
constexpr Step steps[] = {{Update::heat_bath, 1},
                          {Update::over_relaxation, 3},
                          {Update::heat_bath, 2},
                          {Update::over_relaxation, 1}};

// Calls visit(site, place in a field) for a rank's own cells of a colour.
template <class Visit>
void for_cells(const Share& share, int colour, const Visit& visit) {
  for (std::int64_t z = 0; z < share.cells()[0]; ++z)
    for (std::int64_t y = 0; y < share.cells()[1]; ++y)
      for (std::int64_t h = 0; h < share.cells()[2]; ++h)
        visit(share.problem().site(share.site_of(colour, z, y, h)), share.index(z, y, h));
}

// What one rank on a host finds.
template <class Real>
struct Reference {
  std::vector<Measurement> measured;
  std::vector<std::vector<Real>> spins;  // by site: the components of all replicas
};

template <class Real>
Reference<Real> on_host(const Problem& problem) {
  Reference<Real> reference;
  reference.spins.resize(static_cast<std::size_t>(problem.sites()));
  const auto simulate = [&](World& world) {
    Lattice<Real> lattice(world, problem, make_grid(problem, 1, {1, 1, 1}));
    const auto exchange = direct_exchange(world, lattice);
    Solver<Real> solver(world, lattice);
    const auto way = host_way(solver, *exchange, true);
    for (const Step& step : steps) reference.measured.push_back(way->run(step.update, step.sweeps).state);
    for (int colour = 0; colour < 2; ++colour)
      for_cells(lattice.share(), colour, [&](std::int64_t site, std::int64_t place) {
        for (int field = 0; field < lattice.share().fields(); ++field)
          reference.spins[static_cast<std::size_t>(site)].push_back(
              lattice.spins(colour).data()[field * lattice.share().elements() + place]);
      });
  };
  World::run_threads(1, simulate, {.fabric = "shm"});
  return reference;
}

template <class Real>
void expect_same_spins(const GpuLattice<Real>& lattice, const Reference<Real>& reference,
                       const std::string& what) {
  const Share& share = lattice.share();
  std::vector<Real> spins(static_cast<std::size_t>(share.elements() * share.fields()));
  for (int colour = 0; colour < 2; ++colour) {
    lattice.spins(colour).read(0, spins);
    for_cells(share, colour, [&](std::int64_t site, std::int64_t place) {
      for (int field = 0; field < share.fields(); ++field) {
        const Real found = spins[static_cast<std::size_t>(field * share.elements() + place)];
        const Real expected =
            reference.spins[static_cast<std::size_t>(site)][static_cast<std::size_t>(field)];
        test::require(found == expected, "{}: component {} of site {} is {}, and {} on a host", what, field,
                      site, found, expected);
      }
    });
  }
}

void expect_same_state(const Measurement& found, const Measurement& expected, const std::string& what) {
  for (const auto& [name, value] :
       std::map<std::string, double Measurement::*>{{"energy", &Measurement::energy},
                                                    {"alike", &Measurement::alike},
                                                    {"shared", &Measurement::shared}})
    test::require(std::abs(found.*value - expected.*value) < 1e-12, "{}: {} is {}, and {} on a host", what,
                  name, found.*value, expected.*value);
  test::require(found.off_unit <= expected.off_unit, "{}: off by {}, and {} on a host", what, found.off_unit,
                expected.off_unit);
}

template <class Real>
std::unique_ptr<Way> make_way(World& world, GpuLattice<Real>& lattice, GpuExchange& exchange, Start start) {
  return start == Start::kernel ? kernel_way(world, lattice) : step_way(world, lattice, exchange, start);
}

template <class Real>
void compare(World& world, const Problem& problem, const Grid& grid, Start start,
             const Reference<Real>& reference, bool overlap) {
  const std::string what =
      fmt::format("{} bytes, {}, {}", sizeof(Real), name_of(start), overlap ? "overlapped" : "in turn");
  GpuLattice<Real> lattice(world, problem, grid, overlap);
  const auto exchange = direct_gpu_exchange(world, lattice);
  const auto way = make_way(world, lattice, *exchange, start);
  std::size_t step = 0;
  for (const auto& [update, sweeps] : steps)
    expect_same_state(way->run(update, sweeps).state, reference.measured[step++], what);
  expect_same_spins(lattice, reference, what);
}

class SpinOnGpu : public testing::TestWithParam<std::array<int, 3>> {};

TEST_P(SpinOnGpu, HasTheSameSpinsAsAHost) {
  const std::array<int, 3>& shape = GetParam();
  const Problem problem{.extents = {12, 8, 20}, .beta = 0.7, .replicas = 2, .seed = 5};
  const auto single = on_host<float>(problem);
  const auto twice = on_host<double>(problem);
  const std::string failure =
      test::process_ranks("cuda")->run(shape[0] * shape[1] * shape[2], [&](World& world) {
        const Grid grid = make_grid(problem, world.size(), {shape.begin(), shape.end()});
        for (const Start start : {Start::host, Start::graph, Start::kernel})
          compare(world, problem, grid, start, single, true);
        for (const Start start : {Start::graph, Start::kernel})
          compare(world, problem, grid, start, single, false);
        compare(world, problem, grid, Start::kernel, twice, true);
      });
  EXPECT_EQ(failure, "");
}

INSTANTIATE_TEST_SUITE_P(Gpu, SpinOnGpu,
                         testing::Values(std::array{1, 1, 1}, std::array{2, 1, 1}, std::array{1, 2, 1},
                                         std::array{1, 1, 3}, std::array{2, 2, 2}),
                         [](const auto& test) { return fmt::format("{}", fmt::join(test.param, "x")); });

// Who changes places follows from the energies, so they are a host's to the bit.
TEST(SpinOnGpus, TemperaturesChangePlacesAsOnAHost) {
  const Problem problem{.extents = {8, 12, 16}, .replicas = 3, .temperatures = {0.95, 1, 1.05}};
  const Plan plan{.rounds = 12, .heat_baths = 1, .over_relaxations = 1};
  Physics expected;
  const auto simulate_on_host = [&](World& world) {
    Lattice<float> lattice(world, problem, make_grid(problem, 1, {1, 1, 1}));
    const auto exchange = direct_exchange(world, lattice);
    Solver<float> solver(world, lattice);
    const auto way = host_way(solver, *exchange, true);
    Way* const only = way.get();
    expected = simulate(world, problem, {&only, 1}, plan).physics;
  };
  World::run_threads(1, simulate_on_host, {.fabric = "shm"});
  const std::string failure = test::process_ranks("cuda")->run(2, [&](World& world) {
    for (const Start start : {Start::kernel, Start::graph}) {
      GpuLattice<float> lattice(world, problem, make_grid(problem, 2, {2, 1, 1}), true);
      const auto exchange = direct_gpu_exchange(world, lattice);
      const auto way = make_way(world, lattice, *exchange, start);
      Way* const only = way.get();
      const Physics found = simulate(world, problem, {&only, 1}, plan).physics;
      for (std::size_t i = 0; i < expected.temperatures.size(); ++i) {
        const AtTemperature &one = found.temperatures[i], &other = expected.temperatures[i];
        test::require(one.energy.value == other.energy.value && one.acceptance == other.acceptance,
                      "{}: at {} the energy is {} and {} change places; {} and {} on a host", name_of(start),
                      other.temperature, one.energy.value, one.acceptance, other.energy.value,
                      other.acceptance);
      }
    }
  });
  EXPECT_EQ(failure, "");
}

TEST(SpinOnGpus, StartIsChosenBySize) {
  EXPECT_EQ(chosen_start({.extents = {64, 64, 64}}, 2, true), Start::kernel);
  EXPECT_EQ(chosen_start({.extents = {256, 256, 256}}, 2, true), Start::graph);
  EXPECT_EQ(chosen_start({.extents = {64, 64, 64}}, 2, false), Start::graph);
}

// As in a comparison: each way finds the ghosts that another has left. The lattice is large enough for a thread of the kernel
// to have several cells.
TEST(SpinOnGpus, WaysTakeTurns) {
  const Problem problem{.extents = {96, 96, 96}};
  const auto reference = on_host<float>(problem);
  const std::string failure = test::process_ranks("cuda")->run(2, [&](World& world) {
    for (const Start second : {Start::graph, Start::host}) {
      GpuLattice<float> lattice(world, problem, make_grid(problem, 2, {2, 1, 1}), true);
      const auto exchange = direct_gpu_exchange(world, lattice);
      const auto kernel = kernel_way(world, lattice), other = step_way(world, lattice, *exchange, second);
      other->time_messages();
      std::size_t step = 0;
      for (const auto& [update, sweeps] : steps) {
        Way& way = step % 2 == 0 ? *kernel : *other;
        const Phase phase = way.run(update, sweeps);
        test::require(phase.total_us > 0, "a phase has no time");
        expect_same_state(phase.state, reference.measured[step++], std::string(name_of(second)));
      }
      expect_same_spins(lattice, reference, std::string(name_of(second)));
    }
  });
  EXPECT_EQ(failure, "");
}

}  // namespace
}  // namespace tca::spin
