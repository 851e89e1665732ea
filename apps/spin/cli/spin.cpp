// `tca spin`: a Heisenberg spin glass on ranks that write straight into each other's memory, checked by its physics and, if
// asked, timed against MPI in the same job.
#include <fmt/format.h>

#include <memory>
#include <string>

#include "cli/options/memory.hpp"
#include "cli/options/numbers.hpp"
#include "cli/options/one_of.hpp"
#include "cli/options/refuse.hpp"
#include "cli/subcommand.hpp"
#include "spin/cli/report.hpp"
#include "spin/cli/solve.hpp"
#include "spin/exchange.hpp"
#include "spin/problem.hpp"
#include "tca/world.hpp"

namespace tca::tool {
namespace {

// Refuses everything that can be wrong, once, before any rank begins.
void check_job(const SpinOptions& options, int ranks) {
  if ((options.start == "graph" || options.start == "kernel") && !on_gpus(options))
    refuse("--start {} needs --fabric cuda or cuda+mpi", options.start);
  const spin::Problem problem = spin_problem(options);
  make_spin_grid(options, problem, ranks);
  if (options.heat_baths + options.over_relaxations == 0)
    refuse("--heat-bath 0 and --over-relaxation 0 leave nothing to do");
  if (options.compare && options.rounds == 1) refuse("--compare needs at least 2 rounds, one for each side");
  check_messages(options, spin_messages(options), ranks);
  const double numbers =
      3 * (problem.replicas + 1.0);  // a site has a spin in each replica, and three couplings
  check_memory(
      "extent " + options.extent,
      static_cast<double>(problem.sites()) * numbers * (options.in_double ? sizeof(double) : sizeof(float)),
      boot::needs_mpi(options.fabric) ? ranks : 1);
}

int run_rank(World& world, const SpinOptions& options) {
  const SpinReport report = solve_spin(world, options);
  if (world.rank() == 0) {
    print(report, options);
    if (options.explain) fmt::print("\n{}", joined(report.explained));
    keep(report, options);
  }
  return report.fault().empty() ? 0 : 1;
}

int spin_command(const SpinOptions& options) {
  return run_as_ranks(
      "tca spin", options, {.fabric = options.fabric, .machine = options.machine},
      [&](int ranks) { check_job(options, ranks); }, [&](World& world) { return run_rank(world, options); });
}

}  // namespace

void add_spin(Subcommands& tca) {
  auto options = std::make_shared<SpinOptions>();
  CLI::App& app = tca.add("spin", "Simulates a Heisenberg spin glass on several ranks",
                          "tca spin --ranks 2 --extent 64\n"
                          "tca spin --ranks 2 --extent 64 --compare\n"
                          "tca spin --ranks 4 --extent 16 --replicas 2 --beta 0.5 --rounds 2000\n"
                          "tca spin --ranks 2 --couplings rings --rounds 500\n"
                          "tca spin --ranks 2 --extent 16 --temperatures 0.3,0.4,0.5,0.6 --rounds 1000\n"
                          "tca spin --ranks 2 --extent 64 --fabric sim --machine quong\n"
                          "tca spin --fabric cuda --ranks 2 --extent 256 --compare",
                          [options] { return spin_command(*options); });
  add_rank_options(app, *options);
  app.add_option("--extent", options->extent, "Sites along each side, even: one number, or three (z, y, x)")
      ->capture_default_str();
  app.add_option("--start", options->start,
                 "What starts the sweeps on GPUs: the host, a CUDA graph, or one kernel for all of them; "
                 "auto chooses between the latter two by the size and where the ranks are")
      ->check(one_of({"auto", "host", "graph", "kernel"}))
      ->capture_default_str();
  app.add_option("--grid", options->grid, "Number of ranks along z, y and x, such as 2x2x1; auto chooses")
      ->capture_default_str();
  app.add_option(
         "--couplings", options->couplings,
         "Couplings between neighbours: drawn from a normal distribution (gaussian), or 1 along x and 0 "
         "otherwise, chains whose energy is known (rings)")
      ->check(one_of({"gaussian", "rings"}))
      ->capture_default_str();
  CLI::Option* const beta =
      app.add_option("--beta", options->beta, "Inverse temperature, in units of the couplings")
          ->capture_default_str();
  CLI::Option* const replicas =
      app.add_option("--replicas", options->replicas,
                     "Number of systems with the same couplings, simulated side by side")
          ->check(between(1, spin::most_replicas))
          ->capture_default_str();
  app.add_option(
         "--temperatures", options->temperatures,
         "Temperatures from the lowest on, such as 0.5,0.7,1, instead of --beta: a replica for each, which "
         "exchange them after every round")
      ->delimiter(',')
      ->excludes(beta)
      ->excludes(replicas);
  app.add_option("--seed", options->seed, "Seed of couplings, first spins and heat bath")
      ->capture_default_str();
  app.add_option("--rounds", options->rounds,
                 "Number of rounds, with --compare for both sides together; 20 when not given, on sim 2")
      ->check(between(std::int64_t{1}, std::int64_t{1'000'000'000}));
  app.add_option("--heat-bath", options->heat_baths, "Sweeps of a round that draw spins anew")
      ->check(between(0, 1'000'000))
      ->capture_default_str();
  app.add_option("--over-relaxation", options->over_relaxations, "Sweeps of a round that keep the energy")
      ->check(between(0, 1'000'000))
      ->capture_default_str();
  app.add_flag("--double", options->in_double, "Spins and couplings in double precision");
  app.add_flag("--no-overlap", options->no_overlap, "Exchange after computing instead of at the same time");
  app.add_flag("--compare", options->compare,
               "Measure the same over MPI (on GPUs over NCCL) too, in the same job");
  add_message_options(app, *options);
  add_json_option(app, *options);
  add_plot_option(app, *options, "the energy after each round, and by temperature,");
}

}  // namespace tca::tool
