// `tca himeno`: the Himeno benchmark on ranks that write straight into each other's memory, checked against
// the serial answer and, if asked, timed against MPI in the same job.
#include <fmt/format.h>
#include <unistd.h>

#include <algorithm>
#include <fstream>
#include <memory>
#include <string>

#include "cores.hpp"
#include "himeno/exchange.hpp"
#include "himeno/problem.hpp"
#include "himeno_report.hpp"
#include "himeno_solve.hpp"
#include "launch.hpp"
#include "mpi_options.hpp"
#include "refuse.hpp"
#include "subcommand.hpp"
#include "tca/error.hpp"
#include "tca/world.hpp"

namespace tca::tool {
namespace {

// Twelve arrays of coefficients and two of pressure over all ranks, and the reference's two.
void check_memory(const himeno::Problem& problem, const HimenoOptions& options) {
  const auto& n = problem.extents;
  const double cells = static_cast<double>(n[0]) * static_cast<double>(n[1]) * static_cast<double>(n[2]);
  const double needed = cells * sizeof(float) * (options.no_check ? 14 : 16);
  const double present =
      static_cast<double>(sysconf(_SC_PHYS_PAGES)) * static_cast<double>(sysconf(_SC_PAGESIZE));
  if (needed < present) return;
  throw Error(Errc::out_of_memory,
              fmt::format("size {} needs {:.1f} GiB, this machine has {:.1f}; choose a smaller one",
                          options.size, needed / 0x1p30, present / 0x1p30));
}

void check_fabric(const HimenoOptions& options) {
  if (on_gpus(options)) {
#ifndef OPENTCA_HIMENO_ON_GPUS
    refuse("--fabric cuda: this tca was built without CUDA; install the toolkit and build again");
#endif
    if (!options.trace.empty()) refuse("--trace shows what the host does; leave it out on GPUs");
    return;
  }
  if (options.compare && options.fabric == "sim")
    refuse("--compare: there is no MPI on a modelled machine to compare with");
  if (options.start != "host") refuse("--start {} needs --fabric cuda", options.start);
  if (is_over_mpi(options.fabric) && !himeno::have_mpi())
    refuse(
        "--fabric {}: this tca was built without MPI; install libopenmpi-dev and openmpi-bin and build again",
        options.fabric);
  if (is_over_mpi(options.fabric) && options.threads)
    refuse("--fabric {}: its ranks are processes; leave --threads out", options.fabric);
  if (options.compare && options.threads)
    refuse("--compare needs ranks that are processes; leave --threads out");
}

// Everything that can be wrong is said here, once, before any rank is started.
void check_before_launch(const HimenoOptions& options) {
  if (options.ranks < 1 || options.ranks > max_ranks) {
    refuse("--ranks {}: 1 to {} are possible", options.ranks, max_ranks);
  }
  const himeno::Problem problem{.extents = himeno::size_named(options.size).extents};
  make_himeno_grid(options, problem, options.ranks);
  check_fabric(options);
  if (options.compare && options.iterations == 1)
    refuse("--compare needs at least 2 iterations, one for each side");
  check_writable(options.json);
  check_writable(options.trace);
  check_memory(problem, options);
}

int run_rank(World& world, const HimenoOptions& options) {
  const HimenoReport report = solve_himeno(world, options);
  if (!options.trace.empty()) world.write_trace(options.trace);
  if (world.rank() == 0) {
    print(report);
    if (options.explain) fmt::print("\n{}", report.explain);
    if (!options.json.empty()) append_json(report, options.json);
  }
  return report.check && !report.check->agrees() ? 1 : 0;
}

int run_as_threads(const HimenoOptions& options, const WorldOptions& world_options) {
  int code = 0;
  World::run_threads(
      options.ranks,
      [&](World& world) {
        const int own = run_rank(world, options);
        if (world.rank() == 0) code = own;
      },
      world_options);
  return code;
}

// The peer of GPUs is NCCL, which needs no launcher of its own.
int launch_ranks(const HimenoOptions& options) {
  LaunchOptions launching;
  launching.name = "tca himeno";
  launching.ranks = options.ranks;
  launching.argv = own_command_line();
  launching.bind = options.bind;
  if (is_over_mpi(options.fabric)) return launch_under_mpirun(launching);
  if (options.compare && !on_gpus(options)) {
    if (himeno::have_mpi()) {
      launch_under_mpirun(launching);  // comes back only when there is no mpirun
    } else {
      fmt::print(stderr, "tca himeno: built without MPI, so there is nothing to compare with\n");
    }
    std::erase(launching.argv, "--compare");
  }
  return launch(launching);
}

int himeno_command(const HimenoOptions& options) {
  const WorldOptions world_options{
      .trace = !options.trace.empty(), .fabric = options.fabric, .machine = options.machine};
  const bool rank = already_a_rank();
  if (!rank) check_before_launch(options);
  if ((options.threads || options.fabric == "sim") && !rank) return run_as_threads(options, world_options);
  if (!rank) return launch_ranks(options);
  World world = World::init(world_options);
  return run_rank(world, options);
}

}  // namespace

void add_himeno(Subcommands& tca) {
  auto options = std::make_shared<HimenoOptions>();
  options->ranks = std::min(4, usable_cores());
  CLI::App& app =
      tca.add("himeno", "Solves Poisson's equation on several ranks and checks the answer (Himeno benchmark)",
              "tca himeno --ranks 4 --size S\n"
              "tca himeno --ranks 2 --size M --iterations 100 --compare\n"
              "tca himeno --fabric cuda --start kernel --ranks 4 --size M",
              [options] { return himeno_command(*options); });
  app.add_option("-n,--ranks", options->ranks, "How many ranks")->capture_default_str();
  app.add_option("-s,--size", options->size, "XS, S, M, L or XL")->capture_default_str();
  app.add_option("--fabric", options->fabric,
                 "shm (this host's memory), mpi, shm+mpi (shm within sub-clusters, mpi across), cuda (GPUs) "
                 "or sim (a "
                 "modelled machine)")
      ->envname("OPENTCA_FABRIC")
      ->check(CLI::IsMember({"shm", "mpi", "shm+mpi", "cuda", "sim"}))
      ->capture_default_str();
  add_sub_cluster_option(app);
  app.add_option("--machine", options->machine, "The machine to model, on sim: a machine file's name or path")
      ->envname("OPENTCA_MACHINE");
  app.add_option("--start", options->start,
                 "On cuda, who starts each iteration: the host, a CUDA graph, or one kernel for all of them")
      ->check(CLI::IsMember({"host", "graph", "kernel"}))
      ->capture_default_str();
  app.add_option("--grid", options->grid, "Ranks along each dimension, such as 2x2x1; auto chooses")
      ->capture_default_str();
  auto* iterations = app.add_option("--iterations", options->iterations, "How many iterations");
  iterations->check(CLI::Range(std::int64_t{1}, std::int64_t{1'000'000'000}));
  app.add_option("--seconds", options->seconds,
                 "As many iterations as fill this time (3 unless told otherwise)")
      ->check(CLI::Range(0.001, 1e6))
      ->excludes(iterations);
  app.add_flag("--no-overlap", options->no_overlap, "Exchange after computing instead of meanwhile");
  app.add_flag("--unguarded", options->unguarded,
               "Save a signal a step; the two arrays in turn make it safe");
  app.add_flag("--no-check", options->no_check, "Leave the serial reference out");
  app.add_flag("--compare", options->compare, "The same over MPI (on cuda: NCCL) as well, in the same job");
  app.add_flag("--threads", options->threads, "Ranks as threads of one process");
  app.add_flag("--explain", options->explain, "Print how each put travels");
  app.add_option("--json", options->json, "Append the measurement to this file")->type_name("FILE");
  app.add_option("--trace", options->trace,
                 "Write a trace for ui.perfetto.dev; 200 iterations unless told otherwise")
      ->type_name("FILE");
  add_bind_option(app, options->bind);
}

}  // namespace tca::tool
