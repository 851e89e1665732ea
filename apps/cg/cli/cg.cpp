// `tca cg`: the conjugate gradients of the NAS Parallel Benchmarks on ranks that write straight into each
// other's memory, verified against the published result and, if asked, timed against MPI in the same job.
#include <fmt/format.h>

#include <algorithm>
#include <memory>
#include <string>

#include "cg/cli/report.hpp"
#include "cg/cli/solve.hpp"
#include "cg/matrix.hpp"
#include "cg/partition.hpp"
#include "cg/problem.hpp"
#include "cli/options/memory.hpp"
#include "cli/options/numbers.hpp"
#include "cli/options/one_of.hpp"
#include "cli/options/refuse.hpp"
#include "cli/subcommand.hpp"
#include "tca/world.hpp"

namespace tca::tool {
namespace {

// Throws Error{out_of_memory} when the matrix does not fit, or what it is generated from: that, all ranks
// have.
void check_matrix(const cg::Problem& problem, const CgOptions& options, const Grid& grid, int ranks) {
  double needed = 0;
  for (int rank = 0; rank < ranks; ++rank) {
    const cg::Share share = cg::share_of(problem, grid, rank);
    needed += cg::bytes_to_make(problem, share.rows, share.columns);
  }
  if (on_gpus(options)) needed *= 2;  // it is copied into tiles before it goes there
  check_memory(fmt::format("class {} on {} rank{}", problem.name, ranks, ranks == 1 ? "" : "s"), needed,
               boot::needs_mpi(options.fabric) ? ranks : 1);
}

// Refuses everything that can be wrong, once, before any rank begins.
void check_job(const CgOptions& options, int ranks) {
  if ((options.start == "graph" || options.start == "kernel") && !on_gpus(options))
    refuse("--start {} needs --fabric cuda or cuda+mpi", options.start);
  const cg::Problem& problem = cg::problem_named(options.name);
  const Grid grid = make_cg_grid(options, problem, ranks);
  check_messages(options, cg_messages(options, problem, grid), ranks);
  check_matrix(problem, options, grid, ranks);
}

int run_rank(World& world, const CgOptions& options) {
  const CgReport report = solve_cg(world, options);
  if (world.rank() == 0) {
    print(report, options);
    if (options.explain) fmt::print("\n{}", joined(report.explained));
    keep(report, options);
  }
  return report.verified() ? 0 : 1;
}

int cg_command(const CgOptions& options) {
  return run_as_ranks(
      "tca cg", options, {.fabric = options.fabric, .machine = options.machine},
      [&](int ranks) { check_job(options, ranks); }, [&](World& world) { return run_rank(world, options); });
}

}  // namespace

void add_cg(Subcommands& tca) {
  auto options = std::make_shared<CgOptions>();
  CLI::App& app = tca.add(
      "cg", "Solves a large sparse system by conjugate gradients on several ranks (NAS Parallel Benchmarks)",
      "tca cg --ranks 2 --class A\n"
      "tca cg --ranks 4 --class S --grid 2x2 --order merged\n"
      "tca cg --ranks 2 --class S --compare\n"
      "tca cg --ranks 2 --class S --grid 1x2 --sweep-channels\n"
      "tca cg --fabric cuda --ranks 2 --class A --order merged",
      [options] { return cg_command(*options); });
  add_rank_options(app, *options);
  app.add_option("--class", options->name, "Size of the benchmark: S, W, A, B, C or D")
      ->capture_default_str();
  app.add_option("--grid", options->grid,
                 "Division of the matrix: Nx1 by rows, for any number of ranks; RxC into blocks as the "
                 "benchmark does, such as 1x2, 2x2 or 2x4; auto is Nx1")
      ->capture_default_str();
  app.add_option("--order", options->order,
                 "Order of an iteration: the benchmark's (npb), with two sums over the ranks, or one with a "
                 "single sum (merged)")
      ->check(one_of({"npb", "merged"}))
      ->capture_default_str();
  app.add_option(
         "--start", options->start,
         "What starts the steps on GPUs: the host, a CUDA graph, or one kernel for all of them; auto is the "
         "kernel where kernels reach every rank, else the graph")
      ->check(one_of({"auto", "host", "graph", "kernel"}))
      ->capture_default_str();
  app.add_option(
         "--runs", options->runs,
         "Number of runs of the benchmark, with --compare each way; as many as fit into a second when not "
         "given, on sim one")
      ->check(between(1, 1'000'000));
  app.add_flag("--compare", options->compare,
               "Measure the same over MPI (on GPUs over NCCL, by a graph) too, in the same job");
  add_message_options(app, *options);
  add_json_option(app, *options);
  add_sweep_options(app, *options);
}

}  // namespace tca::tool
