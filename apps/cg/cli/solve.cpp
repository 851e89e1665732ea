#include "cg/cli/solve.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <memory>
#include <numeric>
#include <optional>
#include <vector>

#include "boot/bring_up.hpp"
#include "cg/exchange.hpp"
#include "cg/measure.hpp"
#include "cg/partition.hpp"
#include "cg/solver.hpp"
#include "cg/way.hpp"
#include "cli/options/extents.hpp"
#include "cli/options/refuse.hpp"
#include "cli/output/progress.hpp"
#include "measure/placement.hpp"
#include "model/machine/machine.hpp"
#include "shared/mpi_session.hpp"
#ifdef OPENTCA_CG_ON_GPUS
#include "cg/gpu/exchange.hpp"
#include "cg/gpu/matrix.hpp"
#include "cg/gpu/way.hpp"
#include "gpu/machine.hpp"
#include "shared/nccl_communicator.hpp"
#endif

namespace tca::tool {
namespace {

cg::Plan plan_for(const CgOptions& options) {
  cg::Plan plan{.runs = options.runs};
  if (options.runs == 0 && options.fabric == "sim") plan.runs = 1;  // all runs are alike
  return plan;
}

// Returns how many elements the matrix has, all blocks together.
std::int64_t elements(World& world, const cg::Share& share, std::int64_t own) {
  const std::vector<std::int64_t> all = world.all_gather(share.rows.size > 0 ? own : 0);
  return std::accumulate(all.begin(), all.end(), std::int64_t{0});
}

// Returns what the ranks together send in an inner iteration, beside scalars.
std::int64_t bytes_sent(World& world, const cg::Share& share) {
  std::int64_t own = 0;
  for (const cg::Message message : {cg::Message::gather, cg::Message::spmv, cg::Message::transpose})
    own += cg::bytes_of(message, share, world.size());
  const std::vector<std::int64_t> all = world.all_gather(own);
  return std::accumulate(all.begin(), all.end(), std::int64_t{0});
}

// Returns the most that a rank sends in each message.
std::vector<std::int64_t> message_bytes(World& world, const cg::Share& share,
                                        const std::vector<cg::MessageCost>& costs) {
  std::vector<std::int64_t> most;
  for (const cg::MessageCost& cost : costs)
    most.push_back(std::ranges::max(world.all_gather(cg::bytes_of(cost.message, share, world.size()))));
  return most;
}

// What solving on hosts and solving on GPUs have in common.
struct Job {
  World& world;
  const CgOptions& options;
  const cg::Problem& problem;
  const Grid& grid;
  const cg::Progress& progress;

  cg::Order order() const { return options.order == "merged" ? cg::Order::merged : cg::Order::npb; }
};

void measure(CgReport& report, const Job& job, const cg::Share& share, const std::vector<cg::Way*>& ways) {
  report.bytes = bytes_sent(job.world, share);
  report.results = cg::measure(job.world, job.problem, share, ways, plan_for(job.options), job.progress);
  report.message_bytes = message_bytes(job.world, share, report.results.front().messages);
}

void solve_on_hosts(const Job& job, CgReport& report) {
  cg::Solver solver(job.world, job.problem, job.grid, job.progress);
  const cg::Share& share = solver.share();
  const auto direct = cg::direct_exchange(job.world, share, solver.vectors());
  const auto mpi = job.options.compare ? cg::mpi_exchange(job.world, share, solver.vectors()) : nullptr;
  const auto own = cg::host_way(job.world, solver, *direct, job.order());
  const auto theirs = mpi ? cg::host_way(job.world, solver, *mpi, job.order()) : nullptr;
  std::vector<cg::Way*> ways{own.get()};
  if (theirs) ways.push_back(theirs.get());
  report.nonzeros = elements(job.world, share, solver.matrix().nonzeros());
  report.explain = own->explain();
  report.peer = {"MPI", apps::mpi_version()};
  measure(report, job, share, ways);
}

#ifdef OPENTCA_CG_ON_GPUS
// NCCL's steps are a CUDA graph however OpenTCA's are started, since NCCL is fastest that way.
void solve_on_gpus(const Job& job, CgReport& report) {
  auto& [world, options, problem, grid, progress] = job;
  const cg::GpuMatrix matrix(world, problem, grid, progress);
  const cg::Share& share = matrix.share();
  cg::Start start = cg::start_named(options.start);
  if (start == cg::Start::automatic) start = cg::chosen_start(world, share);
  const bool by_kernel = start == cg::Start::kernel;
  std::optional<cg::Vectors> vectors;
  if (!by_kernel || options.compare) vectors = cg::make_vectors(world, share);
  const auto direct = by_kernel ? nullptr : cg::direct_gpu_exchange(world, share, *vectors);
  const auto nccl = options.compare ? cg::nccl_exchange(world, share, *vectors) : nullptr;
  if (options.compare && !nccl && world.rank() == 0)
    fmt::print(stderr, "tca cg: built without NCCL, so there is nothing to compare with\n");
  const auto own = by_kernel ? cg::kernel_way(world, matrix, job.order())
                             : cg::step_way(world, matrix, *vectors, *direct, job.order(), start);
  const auto theirs =
      nccl ? cg::step_way(world, matrix, *vectors, *nccl, job.order(), cg::Start::graph) : nullptr;
  std::vector<cg::Way*> ways{own.get()};
  if (theirs) ways.push_back(theirs.get());
  const bench::gpu::Machine machine = bench::gpu::machine(world);
  report.gpus = machine.describe();
  report.libraries = {{"cuda", machine.cuda}, {"driver", machine.driver}};
  report.start = cg::name_of(start);
  report.nonzeros = elements(world, share, matrix.nonzeros());
  report.explain = own->explain();
  report.peer = {"NCCL", apps::nccl_version()};
  measure(report, job, share, ways);
}
#else
void solve_on_gpus(const Job& job, CgReport&) {
  refuse("--fabric {}: this tca was built without CUDA", job.options.fabric);
}
#endif

}  // namespace

Grid make_cg_grid(const CgOptions& options, const cg::Problem& problem, int ranks) {
  const Grid grid(ranks,
                  options.grid == "auto" ? std::vector<int>{ranks, 1} : parse_grid(options.grid, 2, ranks));
  cg::check_grid(problem, grid);
  return grid;
}

CgReport solve_cg(World& world, const CgOptions& options) {
  const cg::Problem& problem = cg::problem_named(options.name);
  const Grid grid = make_cg_grid(options, problem, world.size());
  Bars bars;
  const cg::Progress progress = bars.shown_by(world.rank());
  const bool is_modelled = options.fabric == "sim";
  CgReport report{
      .problem = problem,
      .grid = grid.describe(),
      .order = options.order,
      .world = world.describe(),
      .placement = is_modelled ? "" : bench::placement(world),
      .processors = is_modelled || on_gpus(options) ? 0 : bench::processors_of(bench::places(world)),
      .fabric = options.fabric,
      .model = is_modelled ? net::read_machine(boot::machine_name(options.machine)).title : "",
      .ranks = world.size()};
  const Job job{world, options, problem, grid, progress};
  if (on_gpus(options)) {
    solve_on_gpus(job, report);
  } else {
    solve_on_hosts(job, report);
  }
  return report;
}

}  // namespace tca::tool
