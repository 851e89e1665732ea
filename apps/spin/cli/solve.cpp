#include "spin/cli/solve.hpp"

#include <memory>
#include <utility>
#include <vector>

#include "cli/options/extents.hpp"
#include "cli/options/refuse.hpp"
#include "cli/output/progress.hpp"
#include "shared/mpi_session.hpp"
#include "spin/exchange.hpp"
#include "spin/lattice.hpp"
#include "spin/measure.hpp"

namespace tca::tool {
namespace {

spin::Plan plan_for(const SpinOptions& options) {
  constexpr std::int64_t rounds = 20, modelled = 2;  // of which all are alike
  return {.rounds = options.rounds > 0        ? options.rounds
                    : options.fabric == "sim" ? modelled
                                              : rounds,
          .heat_baths = options.heat_baths,
          .over_relaxations = options.over_relaxations,
          .overlap = !options.no_overlap};
}

template <class Real>
void simulate(World& world, const SpinOptions& options, const Grid& grid, SpinReport& report) {
  spin::Lattice<Real> lattice(world, report.problem, grid);
  std::vector<std::unique_ptr<spin::Exchange>> exchanges;
  exchanges.push_back(
      spin::direct_exchange(world, lattice, apps::Channels(options.channels, spin::messages)));
  report.explained = {{"HALO", exchanges.front()->explain()}, {"SUM", exchanges.front()->explain_sum()}};
  if (options.compare)
    if (auto mpi = spin::mpi_exchange(world, lattice)) exchanges.push_back(std::move(mpi));
  report.peer = {"MPI", apps::mpi_version()};
  std::vector<spin::Exchange*> pointers;
  for (const auto& exchange : exchanges) pointers.push_back(exchange.get());
  Bars bars;
  report.run = spin::simulate(world, lattice, pointers, plan_for(options), bars.shown_by(world.rank()));
}

}  // namespace

spin::Problem spin_problem(const SpinOptions& options) {
  const auto extents = parse_extents("--extent", options.extent);
  if (!extents || (extents->size() != 1 && extents->size() != 3))
    refuse("--extent {}: give one number, or three such as 64x64x128 (z, y, x)", options.extent);
  spin::Problem problem{
      .beta = options.beta,
      .couplings = options.couplings == "rings" ? spin::Couplings::rings : spin::Couplings::gaussian,
      .replicas = options.replicas,
      .seed = options.seed};
  for (std::size_t d = 0; d < 3; ++d) problem.extents[d] = (*extents)[extents->size() == 1 ? 0 : d];
  spin::check(problem);
  return problem;
}

Grid make_spin_grid(const SpinOptions& options, const spin::Problem& problem, int ranks) {
  return spin::make_grid(
      problem, ranks,
      options.grid == "auto" ? std::vector<int>{0, 0, 0} : parse_grid(options.grid, 3, ranks));
}

SpinReport solve_spin(World& world, const SpinOptions& options) {
  const spin::Problem problem = spin_problem(options);
  const Grid grid = make_spin_grid(options, problem, world.size());
  SpinReport report{.problem = problem,
                    .plan = plan_for(options),
                    .grid = grid.describe(),
                    .in_double = options.in_double,
                    .job = describe_job(world, options)};
  if (options.in_double) {
    simulate<double>(world, options, grid, report);
  } else {
    simulate<float>(world, options, grid, report);
  }
  return report;
}

}  // namespace tca::tool
