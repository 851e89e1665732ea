#include "himeno/cli/solve.hpp"

#include <fmt/format.h>

#include <memory>
#include <utility>
#include <vector>

#include "cli/options/extents.hpp"
#include "cli/options/refuse.hpp"
#include "cli/output/progress.hpp"
#include "himeno/check.hpp"
#include "himeno/cli/alone.hpp"
#include "himeno/cli/size.hpp"
#include "himeno/exchange.hpp"
#include "himeno/measure.hpp"
#include "himeno/solver.hpp"
#include "shared/mpi_session.hpp"
#include "tca/error.hpp"
#ifdef OPENTCA_HIMENO_ON_GPUS
#include "gpu/machine.hpp"
#include "himeno/gpu/exchange.hpp"
#include "himeno/gpu/solver.hpp"
#include "himeno/gpu/way.hpp"
#include "shared/nccl_communicator.hpp"
#endif

namespace tca::tool {
namespace {

constexpr std::int64_t traced_iterations = 200;  // a trace of seconds would be too large for its viewers
// A virtual second would take long, and all iterations are alike.
constexpr std::int64_t modelled_iterations = 10;

himeno::Plan plan_for(const HimenoOptions& options) {
  himeno::Plan plan{.iterations = options.iterations, .overlap = !options.no_overlap};
  if (options.seconds > 0) plan.seconds = options.seconds;
  const bool open = options.iterations == 0 && options.seconds == 0;
  if (open && !options.trace.empty()) plan.iterations = traced_iterations;
  if (open && options.fabric == "sim") plan.iterations = modelled_iterations;
  return plan;
}

// What solving on hosts and solving on GPUs have in common.
struct Job {
  World& world;
  const HimenoOptions& options;
  const himeno::Problem& problem;
  const Grid& grid;
  const himeno::Progress& progress;
  apps::Channels channels;
};

void take_check(HimenoReport& report, const Job& job, const himeno::Solution& solution) {
  if (job.options.no_check) return;
  report.check = himeno::check(job.world, job.problem, solution, job.progress);
  report.checked_iterations = solution.iterations();
}

void take(HimenoReport& report, const himeno::Solution& solution) {
  report.residual = solution.residual();
  report.iterations = solution.iterations();
}

void solve_on_host(const Job& job, HimenoReport& report) {
  const auto& [world, options, problem, grid, progress, channels] = job;
  himeno::Solver solver(world, problem, grid, !options.trace.empty());
  const auto direct =
      himeno::direct_exchange(world, grid, solver.share(), solver.pressure(), !options.unguarded, channels);
  const auto mpi =
      options.compare ? himeno::mpi_exchange(world, grid, solver.share(), solver.pressure()) : nullptr;
  std::vector<himeno::Exchange*> exchanges{direct.get()};
  if (mpi) exchanges.push_back(mpi.get());
  report.peer = {"MPI", apps::mpi_version()};
  report.results = himeno::measure(world, problem, solver, exchanges, plan_for(options), progress);
  if (options.explain) report.messages = himeno::time_messages(world, solver, *direct);
  // With what messages took, where chains are timed.
  report.explained = {{"HALO", direct->explain()}, {"SUM", direct->explain_sum()}};
  take(report, solver);
  take_check(report, job, solver);
  if (mpi) report.alone = measure_alone(world, solver, grid, *direct, *mpi, !options.unguarded);
}

#ifdef OPENTCA_HIMENO_ON_GPUS
// NCCL's iterations are a CUDA graph however OpenTCA's are started, since NCCL is fastest that way.
void solve_on_gpus(const Job& job, HimenoReport& report) {
  const auto& [world, options, problem, grid, progress, channels] = job;
  himeno::GpuSolver solver(world, problem, grid, !options.no_overlap);
  const auto direct = himeno::direct_gpu_exchange(world, grid, solver.share(), solver.pressure(),
                                                  !options.unguarded, channels);
  const auto nccl =
      options.compare ? himeno::nccl_exchange(world, grid, solver.share(), solver.pressure()) : nullptr;
  if (options.compare && !nccl && world.rank() == 0)
    fmt::print(stderr, "tca himeno: built without NCCL, so there is nothing to compare with\n");
  himeno::Start start = himeno::start_named(options.start);
  report.start_was_chosen = start == himeno::Start::automatic;
  report.across = direct->partners() == nullptr;
  if (report.start_was_chosen)
    start = himeno::chosen_start(problem, world.size(), !report.across, himeno::slowest_memory(world));
  report.start = himeno::name_of(start);
  const auto own = himeno::gpu_way(world, solver, *direct, start);
  const auto theirs = nccl ? himeno::gpu_way(world, solver, *nccl, himeno::Start::graph) : nullptr;
  std::vector<himeno::Way*> ways{own.get()};
  if (theirs) ways.push_back(theirs.get());
  report.peer = {"NCCL", apps::nccl_version()};
  bench::gpu::describe_gpus(world, report);
  // A GPU does in seconds what would take the serial reference minutes. So the reference is compared with the
  // first iterations only, of every way.
  constexpr std::int64_t checked_iterations = 101;
  for (himeno::Way* way : ways) way->run(checked_iterations);
  take_check(report, job, solver.solution());
  report.results = himeno::measure(world, problem, ways, plan_for(options), progress);
  take(report, solver.solution());
  if (options.explain) report.messages = himeno::time_messages(world, solver, *direct);
  report.explained = {{"HALO", direct->explain()}};
}
#else
void solve_on_gpus(const Job& job, HimenoReport&) {
  refuse("--fabric {}: this tca was built without CUDA", job.options.fabric);
}
#endif

}  // namespace

Grid make_himeno_grid(const HimenoOptions& options, const himeno::Problem& problem, int ranks) {
  if (options.grid == "auto") {
    try {
      return Grid::choose(ranks, problem.interior());
    } catch (const Error&) {
      refuse("{} ranks: no grid of so many fits the {} cells to be shared in size {}", ranks,
             himeno::describe(problem.interior()), options.size);
    }
  }
  const Grid grid(ranks, parse_grid(options.grid, 3, ranks));
  himeno::check_grid(problem, grid);
  return grid;
}

std::span<const std::string_view> himeno_messages(const HimenoOptions& options) {
  return std::span(himeno::messages).first(on_gpus(options) ? 1 : himeno::messages.size());
}

HimenoReport solve_himeno(World& world, const HimenoOptions& options) {
  const himeno::Problem problem{.extents = parse_himeno_size(options.size)};
  const Grid grid = make_himeno_grid(options, problem, world.size());
  Bars bars;
  const himeno::Progress progress = bars.shown_by(world.rank());
  HimenoReport report{.size = himeno::name_of(problem.extents),
                      .extents = problem.extents,
                      .grid = grid.describe(),
                      .job = describe_job(world, options),
                      .overlap = !options.no_overlap,
                      .guarded = !options.unguarded};
  const Job job{world, options, problem, grid, progress, {options.channels, himeno_messages(options)}};
  if (on_gpus(options)) {
    solve_on_gpus(job, report);
  } else {
    solve_on_host(job, report);
  }
  return report;
}

}  // namespace tca::tool
