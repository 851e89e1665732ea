// `tca himeno`: the Himeno benchmark on ranks that write straight into each other's memory, checked against
// the serial answer and, if asked, timed against MPI in the same job.
#include <fmt/format.h>

#include <algorithm>
#include <memory>
#include <string>

#include "cli/options/memory.hpp"
#include "cli/options/numbers.hpp"
#include "cli/options/one_of.hpp"
#include "cli/options/refuse.hpp"
#include "cli/subcommand.hpp"
#include "himeno/cli/report.hpp"
#include "himeno/cli/size.hpp"
#include "himeno/cli/solve.hpp"
#include "himeno/exchange.hpp"
#include "himeno/problem.hpp"
#include "tca/error.hpp"
#include "tca/world.hpp"

namespace tca::tool {
namespace {

// Throws Error{out_of_memory} when the arrays do not fit: over all ranks twelve of coefficients and two of
// pressure, and the two of the reference.
void check_arrays(const himeno::Problem& problem, const HimenoOptions& options, int ranks) {
  const auto& n = problem.extents;
  const double cells = static_cast<double>(n[0]) * static_cast<double>(n[1]) * static_cast<double>(n[2]);
  const double needed = cells * sizeof(float) * (options.no_check ? 14 : 16);
  check_memory("size " + options.size, needed, boot::needs_mpi(options.fabric) ? ranks : 1);
}

// Refuses everything that can be wrong, once, before any rank begins.
void check_job(const HimenoOptions& options, int ranks) {
  const himeno::Problem problem{.extents = parse_himeno_size(options.size)};
  if (std::ranges::min(problem.extents) < 3)
    refuse("--size {}: at least 3 cells along each dimension, of which the outer ones are the boundary",
           options.size);
  make_himeno_grid(options, problem, ranks);
  if (!options.trace.empty() && on_gpus(options) && !boot::needs_mpi(options.fabric))
    refuse("--trace shows what the host does, which on --fabric {} is nothing; leave it out", options.fabric);
  if ((options.start == "graph" || options.start == "kernel") && !on_gpus(options))
    refuse("--start {} needs --fabric cuda or cuda+mpi", options.start);
  if (options.compare && options.iterations == 1)
    refuse("--compare needs at least 2 iterations, one for each side");
  check_distinct({{"--trace", options.trace}, {"--json", options.json}});
  check_messages(options, himeno_messages(options), ranks);
  check_writable(options.trace);
  check_arrays(problem, options, ranks);
}

int run_rank(World& world, const HimenoOptions& options) {
  const HimenoReport report = solve_himeno(world, options);
  if (!options.trace.empty()) world.write_trace(options.trace);
  if (world.rank() == 0) {
    print(report, options);
    if (options.explain) fmt::print("\n{}", joined(report.explained));
    if (!options.json.empty()) append_json(report, options.json);
  }
  return report.check && !report.check->agrees() ? 1 : 0;
}

int himeno_command(const HimenoOptions& options) {
  return run_as_ranks(
      "tca himeno", options,
      {.trace = !options.trace.empty(), .fabric = options.fabric, .machine = options.machine},
      [&](int ranks) { check_job(options, ranks); }, [&](World& world) { return run_rank(world, options); });
}

}  // namespace

void add_himeno(Subcommands& tca) {
  auto options = std::make_shared<HimenoOptions>();
  CLI::App& app =
      tca.add("himeno", "Solves Poisson's equation on several ranks and checks the answer (Himeno benchmark)",
              "tca himeno --ranks 4 --size S\n"
              "tca himeno --ranks 2 --size M --iterations 100 --compare\n"
              "tca himeno --fabric cuda --ranks 4 --size M --compare",
              [options] { return himeno_command(*options); });
  add_rank_options(app, *options);
  app.add_option("-s,--size", options->size, "Problem size: XS, S, M, L, XL, or extents such as 256x128x128")
      ->capture_default_str();
  app.add_option(
         "--start", options->start,
         "What starts each iteration on GPUs: the host, a CUDA graph, or one kernel for all of them; auto "
         "chooses between the latter two by the size, the GPUs' memory and where the ranks are")
      ->check(one_of({"auto", "host", "graph", "kernel"}))
      ->capture_default_str();
  app.add_option("--grid", options->grid, "Number of ranks along each dimension, such as 2x2x1; auto chooses")
      ->capture_default_str();
  auto* iterations = app.add_option("--iterations", options->iterations,
                                    "Number of iterations; with --compare half of them for each side");
  iterations->check(between(std::int64_t{1}, std::int64_t{1'000'000'000}));
  app.add_option("--seconds", options->seconds,
                 "Iterate for about this many seconds; 3 when not given, on sim 10 iterations")
      ->check(between(0.001, 1e6))
      ->excludes(iterations);
  app.add_flag("--no-overlap", options->no_overlap, "Exchange after computing instead of at the same time");
  app.add_flag("--unguarded", options->unguarded,
               "Leave the guard out, which saves a signal per step; safe because two arrays take turns");
  app.add_flag("--no-check", options->no_check, "Skip the check against the serial code");
  app.add_flag("--compare", options->compare,
               "Measure the same over MPI (on GPUs over NCCL) too, in the same job");
  add_message_options(app, *options);
  add_json_option(app, *options);
  app.add_option("--trace", options->trace,
                 "Write a timeline for ui.perfetto.dev to this file; 200 iterations, on sim 10, unless "
                 "--iterations is given")
      ->type_name("FILE");
}

}  // namespace tca::tool
