#include "spin/cli/solve.hpp"

#include <fmt/format.h>

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
#include "spin/solver.hpp"
#include "spin/way.hpp"
#ifdef OPENTCA_SPIN_ON_GPUS
#include "gpu/machine.hpp"
#include "shared/gpu_sum.hpp"
#include "shared/nccl_communicator.hpp"
#include "spin/gpu/exchange.hpp"
#include "spin/gpu/lattice.hpp"
#include "spin/gpu/way.hpp"
#endif

namespace tca::tool {
namespace {

spin::Plan plan_for(const SpinOptions& options) {
  constexpr std::int64_t rounds = 20, modelled = 2;  // of which all are alike
  return {.rounds = options.rounds > 0        ? options.rounds
                    : options.fabric == "sim" ? modelled
                                              : rounds,
          .heat_baths = options.heat_baths,
          .over_relaxations = options.over_relaxations};
}

// What simulating on hosts and on GPUs have in common.
struct Job {
  World& world;
  const SpinOptions& options;
  const Grid& grid;
  apps::Channels channels;
};

// The last call on either.
void simulate(const Job& job, const std::vector<std::unique_ptr<spin::Way>>& owned, SpinReport& report) {
  std::vector<spin::Way*> ways;
  for (const auto& way : owned) ways.push_back(way.get());
  Bars bars;
  report.run = spin::simulate(job.world, report.problem, ways, report.plan, bars.shown_by(job.world.rank()));
}

template <class Real>
void simulate_on_hosts(const Job& job, SpinReport& report) {
  const auto& [world, options, grid, channels] = job;
  spin::Lattice<Real> lattice(world, report.problem, grid);
  std::vector<std::unique_ptr<spin::Exchange>> exchanges;
  exchanges.push_back(spin::direct_exchange(world, lattice, channels));
  report.explained = {{"HALO", exchanges.front()->explain()}, {"SUM", exchanges.front()->explain_sum()}};
  if (options.compare)
    if (auto mpi = spin::mpi_exchange(world, lattice)) exchanges.push_back(std::move(mpi));
  report.peer = {"MPI", apps::mpi_version()};
  spin::Solver<Real> solver(world, lattice);
  std::vector<std::unique_ptr<spin::Way>> ways;
  for (const auto& exchange : exchanges)
    ways.push_back(spin::host_way(solver, *exchange, !options.no_overlap));
  simulate(job, ways, report);
}

#ifdef OPENTCA_SPIN_ON_GPUS
// NCCL's sweeps are a CUDA graph however OpenTCA's are started, since NCCL is fastest that way.
template <class Real>
void simulate_on_gpus(const Job& job, SpinReport& report) {
  const auto& [world, options, grid, channels] = job;
  spin::GpuLattice<Real> lattice(world, report.problem, grid, !options.no_overlap);
  const auto direct = spin::direct_gpu_exchange(world, lattice, channels);
  const auto nccl = options.compare ? spin::nccl_exchange(world, lattice) : nullptr;
  if (options.compare && !nccl && world.rank() == 0)
    fmt::print(stderr, "tca spin: built without NCCL, so there is nothing to compare with\n");
  report.peer = {"NCCL", apps::nccl_version()};
  spin::Start start = spin::start_named(options.start);
  report.start_was_chosen = start == spin::Start::automatic;
  if (report.start_was_chosen)
    start = spin::chosen_start(report.problem, world.size(), apps::is_one_sub_cluster(world));
  report.start = spin::name_of(start);
  bench::gpu::describe_gpus(world, report);
  report.explained = {{"HALO", direct->explain()}};
  std::vector<std::unique_ptr<spin::Way>> ways;
  ways.push_back(start == spin::Start::kernel ? spin::kernel_way(world, lattice)
                                              : spin::step_way(world, lattice, *direct, start));
  if (nccl) ways.push_back(spin::step_way(world, lattice, *nccl, spin::Start::graph));
  simulate(job, ways, report);
  if (start == spin::Start::kernel && world.size() > 1)
    report.run.results.front().messages =
        spin::step_way(world, lattice, *direct, spin::Start::host)->time_messages();
}
#else
template <class Real>
void simulate_on_gpus(const Job& job, SpinReport&) {
  refuse("--fabric {}: this tca was built without CUDA", job.options.fabric);
}
#endif

template <class Real>
void simulate(const Job& job, SpinReport& report) {
  if (on_gpus(job.options))
    simulate_on_gpus<Real>(job, report);
  else
    simulate_on_hosts<Real>(job, report);
}

}  // namespace

std::span<const std::string_view> spin_messages(const SpinOptions& options) {
  return std::span(spin::messages).first(on_gpus(options) ? 1 : spin::messages.size());
}

spin::Problem spin_problem(const SpinOptions& options) {
  const auto extents = parse_extents("--extent", options.extent);
  if (!extents || (extents->size() != 1 && extents->size() != 3))
    refuse("--extent {}: give one number, or three such as 64x64x128 (z, y, x)", options.extent);
  spin::Problem problem{
      .beta = options.beta,
      .couplings = options.couplings == "rings" ? spin::Couplings::rings : spin::Couplings::gaussian,
      .replicas =
          options.temperatures.empty() ? options.replicas : static_cast<int>(options.temperatures.size()),
      .temperatures = options.temperatures,
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
                    .overlap = !options.no_overlap,
                    .job = describe_job(world, options)};
  const Job job{world, options, grid, {options.channels, spin_messages(options)}};
  if (options.in_double)
    simulate<double>(job, report);
  else
    simulate<float>(job, report);
  return report;
}

}  // namespace tca::tool
