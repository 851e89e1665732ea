// `tca qcd`: lattice QCD on ranks that write straight into each other's memory.
#include <fmt/format.h>

#include <cstdint>
#include <limits>
#include <memory>
#include <string>

#include "cli/options/numbers.hpp"
#include "cli/options/one_of.hpp"
#include "cli/options/refuse.hpp"
#include "cli/subcommand.hpp"
#include "qcd/cli/run.hpp"
#include "qcd/files/configuration.hpp"
#include "qcd/gpu/start.hpp"
#include "qcd/heat_bath.hpp"
#include "qcd/pion.hpp"
#include "tca/error.hpp"
#include "tca/world.hpp"

namespace tca::tool {
namespace {

// Each operator has a parameter of its own, and the other options are for Wilson's alone.
void check_operator(const QcdOptions& options) {
  if (!is_staggered(options)) {
    if (options.mass_given)
      refuse("--mass is the staggered operator's (--operator staggered); Wilson's has --kappa");
    return;
  }
  if (options.kappa_given) refuse("--kappa is Wilson's; the staggered operator has --mass");
  if (options.no_even_odd) refuse("--no-even-odd is Wilson's; the staggered operator is on all sites anyhow");
  if (options.compare) refuse("--compare is for Wilson's operator");
}

void check_start(const QcdOptions& options) {
  if (!on_gpus(options)) {
    if (options.started_by != "auto")
      refuse("--started-by {} needs --fabric cuda or cuda+mpi", options.started_by);
    return;
  }
  if (options.action != "invert" && options.action != "dslash" && options.action != "pion")
    refuse("--fabric {} is for invert, dslash and pion; {} runs on the host", options.fabric, options.action);
  if (options.action == "dslash" && options.started_by == "kernel")
    refuse("--started-by kernel is for solving; an operator is applied by the host or a graph");
  qcd::check_on_gpus(inverter_options(options), qcd::start_named(options.started_by));
}

// Refuses everything that can be wrong, once, before any rank begins.
void check_job(const QcdOptions& options, int ranks) {
  check_operator(options);
  if (options.precision == "mixed" && options.action == "dslash")
    refuse("--precision mixed is for solving; an operator is applied in single or double");
  check_start(options);
  if (options.action != "dslash") qcd::check(inverter_options(options));
  if (options.action == "pion") qcd::check_pion(options.rhs);
  const qcd::Extents extents = qcd_extents(options);
  make_qcd_grid(options, extents, ranks);
  if (options.action == "generate") {
    qcd::check_heat_bath(extents);
    if (options.skip && *options.skip > 0 && *options.skip >= options.sweeps)
      refuse("--skip {} leaves none of {} sweeps to average over", *options.skip, options.sweeps);
  }
  // --output may name the same file as --config: the new links may replace those that they come from.
  check_distinct({{"--config", options.config}, {"--json", options.json}});
  check_distinct({{"--output", options.output}, {"--json", options.json}});
  if (on_gpus(options) && !options.channels.empty())
    refuse("--channel is for hosts and sim; on --fabric {} kernels carry the halo", options.fabric);
  check_messages(options, qcd_messages(options), ranks);
  check_replaceable(options.output, qcd::unfinished(0));
}

int qcd_command(const QcdOptions& options) {
  if (options.action == "balance") return print_balance(options.balance);
  return run_as_ranks(
      "tca qcd", options, {.fabric = options.fabric, .machine = options.machine},
      [&](int ranks) { check_job(options, ranks); }, [&](World& world) { return run_qcd(world, options); });
}

void add_common(CLI::App& app, QcdOptions& options) {
  add_rank_options(app, options);
  auto* lattice = app.add_option("-l,--lattice", options.lattice,
                                 "Number of sites along x, y, z and t, such as 8x8x8x16; one number for all")
                      ->capture_default_str();
  auto* small = app.add_flag("--small", options.small, "Take a lattice of 8x8x8x8 sites")->excludes(lattice);
  auto* large = app.add_flag("--large", options.large, "Take a lattice of 16x16x16x16 sites")
                    ->excludes(lattice)
                    ->excludes(small);
  app.add_option("--grid", options.grid, "Number of ranks along x, y, z and t, such as 1x1x2x2; auto chooses")
      ->capture_default_str();
  auto* config = app.add_option("--config", options.config,
                                "Read the links from this file, NERSC or ILDG, which gives the lattice too")
                     ->type_name("FILE")
                     ->excludes(lattice)
                     ->excludes(small)
                     ->excludes(large);
  app.add_option("--start", options.start,
                 "First links when there is no file: hot (random) or cold (all one)")
      ->check(one_of({"hot", "cold"}))
      ->excludes(config)
      ->capture_default_str();
  app.add_option("--seed", options.seed, "Seed of all random numbers")
      ->check(between(std::uint64_t{0}, std::numeric_limits<std::uint64_t>::max()))
      ->capture_default_str();
  add_json_option(app, options);
}

void add_operator(CLI::App& app, QcdOptions& options) {
  app.add_option("--kappa", options.kappa, "Hopping parameter of the Wilson operator")
      ->check(between(0.0, 1.0))
      ->each([&options](const std::string&) { options.kappa_given = true; })
      ->capture_default_str();
  app.add_option("--precision", options.precision,
                 "Floating-point precision; mixed corrects single by reliable updates in double")
      ->check(one_of({"single", "double", "mixed"}))
      ->capture_default_str();
  app.add_option("--links", options.links, "Number of real numbers stored per link")
      ->check(one_of({"12", "18"}))
      ->capture_default_str();
  app.add_option("--time", options.time, "Boundary condition in time")
      ->check(one_of({"periodic", "antiperiodic"}))
      ->capture_default_str();
  app.add_flag("--no-even-odd", options.no_even_odd,
               "Leave out even-odd preconditioning of the Wilson operator");
  app.add_option("--rhs", options.rhs, "Number of right-hand sides")
      ->check(between(1, 64))
      ->capture_default_str();
}

void add_choice_of_operator(CLI::App& app, QcdOptions& options) {
  app.add_option("--operator", options.discretisation,
                 "Dirac operator: wilson, or staggered (naive, on the host, solved by CG)")
      ->check(one_of({"wilson", "staggered"}))
      ->capture_default_str();
  app.add_option("--mass", options.mass, "Quark mass in the staggered operator")
      ->check(above_zero())
      ->each([&options](const std::string&) { options.mass_given = true; })
      ->capture_default_str();
}

void add_solver(CLI::App& app, QcdOptions& options) {
  app.add_option("--solver", options.solver, "Solver: cg (on the normal equations) or bicgstab")
      ->check(one_of({"cg", "bicgstab"}))
      ->capture_default_str();
  app.add_option("--tolerance", options.tolerance,
                 "Relative residual, |b - D x| / |b|, at which a solve ends")
      ->check(between(1e-15, 0.99))
      ->capture_default_str();
  app.add_option("--max-iterations", options.max_iterations,
                 "Number of iterations after which a solve gives up")
      ->check(between(1, 1000000))
      ->capture_default_str();
}

void add_generate(CLI::App& app, QcdOptions& options) {
  app.add_option("--beta", options.beta, "Inverse gauge coupling, 6 / g^2")
      ->check(between(0.0, 1000.0))
      ->capture_default_str();
  app.add_option("--sweeps", options.sweeps, "Number of sweeps over the lattice")
      ->check(between(0, 100000000))
      ->capture_default_str();
  app.add_option("--over-relax", options.over_relax,
                 "Number of over-relaxation sweeps after each heat-bath sweep")
      ->check(between(0, 100))
      ->capture_default_str();
  app.add_option("--skip", options.skip,
                 "Number of sweeps before averages are taken; half of all when not given")
      ->check(between(0, 100000000));
  app.add_option("-o,--output", options.output, "Write the last configuration to this file")
      ->type_name("FILE");
  app.add_option("--format", options.format, "File format of the configuration")
      ->check(one_of({"nersc", "ildg"}))
      ->capture_default_str();
  app.add_option("--bits", options.bits, "Bits per real number in the file")
      ->check(one_of({"32", "64"}))
      ->capture_default_str();
}

}  // namespace

void add_qcd(Subcommands& tca) {
  auto options = std::make_shared<QcdOptions>();
  options->compares_gpus_to_mpi = true;
  CLI::App& app =
      tca.add("qcd", "Lattice QCD: generates gauge fields, solves the Dirac equation, measures the pion",
              "tca qcd generate --lattice 8 --beta 6.0 --sweeps 200 -o links.nersc\n"
              "tca qcd invert --config links.nersc --kappa 0.15 --ranks 4 --grid 1x1x2x2\n"
              "tca qcd pion --config links.nersc --kappa 0.15 --json pion.jsonl\n"
              "tca qcd balance --gflops 135 --gpus 2 4",
              [options] { return qcd_command(*options); });
  app.require_subcommand(1);
  const auto add = [&](const char* name, const char* summary) -> CLI::App& {
    CLI::App& one = *app.add_subcommand(name, summary);
    one.callback([options, name] { options->action = name; });
    add_common(one, *options);
    return one;
  };
  add_generate(add("generate", "Generates quenched gauge fields by heat bath and over-relaxation"), *options);
  CLI::App& invert = add("invert", "Solves D x = b for a random b, and times it");
  add_choice_of_operator(invert, *options);
  add_operator(invert, *options);
  add_solver(invert, *options);
  invert.add_flag("--together", options->together,
                  "Solve all right-hand sides together, not one after another");
  CLI::App& dslash = add("dslash", "Applies the Dirac operator, and times it");
  add_choice_of_operator(dslash, *options);
  add_operator(dslash, *options);
  dslash.add_option("--seconds", options->seconds, "Seconds to measure for, about")
      ->check(between(0.001, 1e6))
      ->capture_default_str();
  for (CLI::App* one : {&invert, &dslash}) {
    add_message_options(*one, *options);
    one->add_flag(
        "--compare", options->compare,
        "Measure the same over MPI too, in the same job (on GPUs over NCCL, and over MPI by way of the "
        "host, also where MPI would take GPU memory)");
  }
  add("plaquette", "Reads a configuration, checks it and prints its plaquette");
  CLI::App& pion = add("pion", "Measures the pion's correlator and effective mass from a point source");
  add_operator(pion, *options);
  add_solver(pion, *options);
  for (CLI::App* one : {&invert, &dslash, &pion}) {
    one->add_option(
           "--started-by", options->started_by,
           "What starts the iterations on GPUs: the host, a CUDA graph, or one kernel for all; auto chooses")
        ->check(one_of({"auto", "host", "graph", "kernel"}))
        ->capture_default_str();
  }
  CLI::App& balance =
      *app.add_subcommand("balance", "Counts the bandwidth at which faces take as long as the operator");
  balance.callback([options] { options->action = "balance"; });
  add_balance_options(balance, options->balance);
}

}  // namespace tca::tool
