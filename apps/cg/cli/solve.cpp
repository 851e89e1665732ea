#include "cg/cli/solve.hpp"

#include <fmt/format.h>

#include <memory>
#include <numeric>
#include <optional>
#include <utility>
#include <vector>

#include "cg/exchange.hpp"
#include "cg/measure.hpp"
#include "cg/partition.hpp"
#include "cg/solver.hpp"
#include "cg/way.hpp"
#include "cli/options/extents.hpp"
#include "cli/options/refuse.hpp"
#include "cli/output/progress.hpp"
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

// On GPUs sums have kernels of their own.
bool has_channel(cg::Message message, const CgOptions& options, const cg::Share& share) {
  return cg::is_sent(message, share) && !(on_gpus(options) && message == cg::Message::dot);
}

std::vector<ExplainedMessage> explain(const cg::Exchange& exchange, const cg::Share& share) {
  std::vector<ExplainedMessage> all;
  for (const cg::Message message : cg::messages)
    if (cg::is_sent(message, share))
      all.push_back({std::string(cg::name_of(message)), exchange.explain(message)});
  return all;
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

// Returns every combination of the channels of the messages that a rank sends to others. Collective.
std::vector<apps::Channels> all_combinations(const Job& job, const cg::Share& share,
                                             const apps::Channels& forced) {
  std::vector<SweptMessage> swept;
  for (const cg::Message message : cg::messages)
    if (has_channel(message, job.options, share))
      swept.push_back({cg::name_of(message), cg::bytes_of(message, share, job.world.size())});
  return combinations(job.world, swept, forced);
}

void measure(CgReport& report, const Job& job, const cg::Share& share, const std::vector<cg::Way*>& ways) {
  report.bytes = bytes_sent(job.world, share);
  report.results = cg::measure(job.world, job.problem, share, ways, plan_for(job.options), job.progress);
}

void solve_on_hosts(const Job& job, CgReport& report) {
  World& world = job.world;
  cg::Solver solver(world, job.problem, job.grid, job.progress);
  const cg::Share& share = solver.share();
  const apps::Channels forced(job.options.channels, cg_messages(job.options, job.problem, job.grid));
  if (job.options.sweep_channels) report.channels = all_combinations(job, share, forced);

  std::vector<std::unique_ptr<cg::Exchange>> exchanges;
  exchanges.push_back(cg::direct_exchange(world, share, solver.vectors(), forced));
  for (const apps::Channels& channels : report.channels)
    exchanges.push_back(cg::direct_exchange(world, share, solver.vectors(), channels));
  if (job.options.compare)
    if (auto mpi = cg::mpi_exchange(world, share, solver.vectors())) exchanges.push_back(std::move(mpi));
  std::vector<std::unique_ptr<cg::Way>> owned;
  std::vector<cg::Way*> ways;
  for (const auto& exchange : exchanges) {
    owned.push_back(cg::host_way(world, solver, *exchange, job.order()));
    ways.push_back(owned.back().get());
  }
  report.nonzeros = elements(world, share, solver.matrix().nonzeros());
  report.peer = {"MPI", apps::mpi_version()};
  measure(report, job, share, ways);
  report.explained = explain(*exchanges.front(), share);  // with what messages took, where chains are timed
}

#ifdef OPENTCA_CG_ON_GPUS
// What OpenTCA's way of solving on GPUs is made of, with these channels.
struct GpuSolving {
  std::unique_ptr<cg::GpuExchange> exchange;  // none for a kernel
  std::unique_ptr<cg::Way> way;
};

GpuSolving solving(const Job& job, const cg::GpuMatrix& matrix, const std::optional<cg::Vectors>& vectors,
                   cg::Start start, const apps::Channels& channels) {
  if (start == cg::Start::kernel) return {nullptr, cg::kernel_way(job.world, matrix, job.order(), channels)};
  auto exchange = cg::direct_gpu_exchange(job.world, matrix.share(), *vectors, channels);
  auto way = cg::step_way(job.world, matrix, *vectors, *exchange, job.order(), start);
  return {std::move(exchange), std::move(way)};
}

std::vector<ExplainedMessage> explain(const cg::Way& way) {
  std::vector<ExplainedMessage> all;
  for (const cg::Message message : cg::messages)
    if (const std::string text = way.explain(message); !text.empty())
      all.push_back({std::string(cg::name_of(message)), text});
  return all;
}

// The kernel that works by rows has no channels, so it is not taken where they are asked for.
cg::Start start_on_gpus(const Job& job, const cg::Share& share) {
  const cg::Start asked = cg::start_named(job.options.start);
  const bool by_channels = !job.options.channels.empty() || job.options.sweep_channels;
  if (asked == cg::Start::kernel && by_channels && share.whole_rows)
    refuse("--start kernel by rows sends without channels; give --grid RxC, or --start graph");
  if (asked != cg::Start::automatic) return asked;
  const cg::Start chosen = cg::chosen_start(job.world, share);
  return chosen == cg::Start::kernel && by_channels && share.whole_rows ? cg::Start::graph : chosen;
}

// NCCL's steps are a CUDA graph however OpenTCA's are started, since NCCL is fastest that way.
void solve_on_gpus(const Job& job, CgReport& report) {
  auto& [world, options, problem, grid, progress] = job;
  const cg::GpuMatrix matrix(world, problem, grid, progress);
  const cg::Share& share = matrix.share();
  const cg::Start start = start_on_gpus(job, share);
  const bool by_kernel = start == cg::Start::kernel;
  const apps::Channels forced(options.channels, cg_messages(options, problem, grid));
  if (options.sweep_channels) report.channels = all_combinations(job, share, forced);
  std::optional<cg::Vectors> vectors;
  if (!by_kernel || options.compare || options.explain) vectors = cg::make_vectors(world, share);
  std::vector<GpuSolving> own;
  own.push_back(solving(job, matrix, vectors, start, forced));
  for (const apps::Channels& channels : report.channels)
    own.push_back(solving(job, matrix, vectors, start, channels));
  const auto nccl = options.compare ? cg::nccl_exchange(world, share, *vectors) : nullptr;
  if (options.compare && !nccl && world.rank() == 0)
    fmt::print(stderr, "tca cg: built without NCCL, so there is nothing to compare with\n");
  const auto theirs =
      nccl ? cg::step_way(world, matrix, *vectors, *nccl, job.order(), cg::Start::graph) : nullptr;
  std::vector<cg::Way*> ways;
  for (const GpuSolving& one : own) ways.push_back(one.way.get());
  if (theirs) ways.push_back(theirs.get());
  bench::gpu::describe_gpus(world, report);
  report.start = cg::name_of(start);
  report.nonzeros = elements(world, share, matrix.nonzeros());
  report.peer = {"NCCL", apps::nccl_version()};
  measure(report, job, share, ways);
  report.explained = explain(*ways.front());
  if (!by_kernel || !options.explain || world.size() == 1) return;
  // What a kernel sends by itself is timed where the host starts it.
  const GpuSolving stepwise = solving(job, matrix, vectors, cg::Start::host, forced);
  report.results.front().messages = cg::time_messages(world, problem, share, *stepwise.way);
  report.messages_by_host = true;
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

std::vector<std::string_view> cg_messages(const CgOptions& options, const cg::Problem& problem,
                                          const Grid& grid) {
  std::vector<std::string_view> names;
  for (const cg::Message message : cg::messages)
    if (has_channel(message, options, cg::share_of(problem, grid, 0))) names.push_back(cg::name_of(message));
  return names;
}

CgReport solve_cg(World& world, const CgOptions& options) {
  const cg::Problem& problem = cg::problem_named(options.name);
  const Grid grid = make_cg_grid(options, problem, world.size());
  Bars bars;
  const cg::Progress progress = bars.shown_by(world.rank());
  CgReport report{.problem = problem,
                  .grid = grid.describe(),
                  .order = options.order,
                  .job = describe_job(world, options)};
  const Job job{world, options, problem, grid, progress};
  if (on_gpus(options)) {
    solve_on_gpus(job, report);
  } else {
    solve_on_hosts(job, report);
  }
  return report;
}

}  // namespace tca::tool
