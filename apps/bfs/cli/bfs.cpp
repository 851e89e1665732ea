// `tca bfs`: the breadth-first searches of Graph500 on ranks that write straight into each other's memory,
// validated against the list of edges and, if asked, timed against MPI in the same job.
#include <fmt/format.h>

#include <memory>
#include <string>

#include "bfs/cli/report.hpp"
#include "bfs/cli/solve.hpp"
#include "bfs/gpu/layout.hpp"
#include "bfs/graph/graph.hpp"
#include "bfs/graph/partition.hpp"
#include "bfs/problem.hpp"
#include "cli/options/memory.hpp"
#include "cli/options/numbers.hpp"
#include "cli/options/one_of.hpp"
#include "cli/options/refuse.hpp"
#include "cli/subcommand.hpp"
#include "tca/world.hpp"

namespace tca::tool {
namespace {

void check_gpu_options(const BfsOptions& options) {
  const bool by_one_kernel = options.start == "kernel" || options.start == "resident";
  if (options.style == "paper" && by_one_kernel)
    refuse("--start {}: with --messages paper hosts decide after each level, so choose host or graph",
           options.start);
  if (options.style == "paper" && options.compare)
    refuse("--compare: NCCL sends nothing to the memory of hosts, as FLAG and TREE of --messages paper do");
  if (options.style == "paper" && options.sweep_channels)
    refuse(
        "--sweep-channels: not with --messages paper on GPUs, of which FLAG and TREE go to hosts; give "
        "--channel");
  if (by_one_kernel && (!options.channels.empty() || options.sweep_channels))
    refuse("--start {} sends without channels; leave it out, or give --start graph", options.start);
  if (options.scale > bfs::largest_scale_on_gpus)
    refuse("--scale {}: GPUs search up to scale {}", options.scale, bfs::largest_scale_on_gpus);
}

// Refuses everything that can be wrong, once, before any rank begins.
void check_search_job(const BfsOptions& options, int ranks) {
  if (options.start != "auto" && options.start != "host" && !on_gpus(options))
    refuse("--start {} needs --fabric cuda or cuda+mpi", options.start);
  if (on_gpus(options)) check_gpu_options(options);
  const bfs::Problem problem{.scale = options.scale};
  const bfs::Partition partition(problem, ranks);  // refuses too many ranks
  check_messages(options, bfs_messages(options.style), ranks);
  check_memory(fmt::format("scale {} on {} rank{}", problem.scale, ranks, ranks == 1 ? "" : "s"),
               ranks * bfs::bytes_to_make(problem, partition.ranks()),
               boot::needs_mpi(options.fabric) ? ranks : 1);
}

int run_searching_rank(World& world, const BfsOptions& options) {
  const BfsReport report = solve_bfs(world, options);
  if (world.rank() == 0) {
    print(report, options);
    if (options.explain) fmt::print("\n{}", joined(report.explained));
    keep(report, options);
  }
  return report.is_right() ? 0 : 1;
}

int bfs_command(const BfsOptions& options) {
  return run_as_ranks(
      "tca bfs", options, {.fabric = options.fabric, .machine = options.machine},
      [&](int ranks) { check_search_job(options, ranks); },
      [&](World& world) { return run_searching_rank(world, options); });
}

}  // namespace

void add_bfs(Subcommands& tca) {
  auto options = std::make_shared<BfsOptions>();
  CLI::App& app = tca.add("bfs", "Searches a large random graph breadth-first on several ranks (Graph500)",
                          "tca bfs --ranks 2 --scale 15 --validate\n"
                          "tca bfs --ranks 4 --scale 12 --messages paper\n"
                          "tca bfs --ranks 2 --scale 18 --compare\n"
                          "tca bfs --ranks 2 --messages paper --sweep-channels --plot channels.svg\n"
                          "tca bfs --fabric cuda --ranks 2 --scale 20 --validate",
                          [options] { return bfs_command(*options); });
  add_rank_options(app, *options);
  app.add_option("--scale", options->scale, "Binary logarithm of the number of vertices")
      ->check(between(bfs::smallest_scale, bfs::largest_scale))
      ->capture_default_str();
  app.add_option(
         "--messages", options->style,
         "Messages between ranks: a bitmap a level, which allows searching top-down and bottom-up "
         "(packed), or the messages of the PEACH3 paper, an integer for each vertex, a flag, and at the "
         "end the tree, searching bottom-up only (paper)")
      ->check(one_of({"packed", "paper"}))
      ->capture_default_str();
  app.add_option(
         "--start", options->start,
         "What starts a search on GPUs: the host level by level, a CUDA graph a level, one kernel for all "
         "of them, or such a kernel that is resident and is told root after root; auto is the resident one "
         "where kernels reach every rank, else the graph")
      ->check(one_of({"auto", "host", "graph", "kernel", "resident"}))
      ->capture_default_str();
  app.add_option("--roots", options->roots,
                 "Number of searches, each from another vertex, with --compare each way")
      ->check(between(1, 1'000'000))
      ->capture_default_str();
  app.add_flag("--validate", options->validate, "Check every search by the rules of the benchmark");
  app.add_flag("--compare", options->compare,
               "Measure the same over MPI (on GPUs over NCCL, by a graph) too, in the same job");
  add_message_options(app, *options);
  add_json_option(app, *options);
  add_sweep_options(app, *options);
}

}  // namespace tca::tool
