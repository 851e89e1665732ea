// `tca run`: runs any program as N ranks on this host.
#include <fmt/format.h>

#include <charconv>
#include <memory>
#include <string>
#include <system_error>

#include "base/system/environment.hpp"
#include "cli/launch/launch.hpp"
#include "cli/options/mpi_options.hpp"
#include "cli/options/numbers.hpp"
#include "cli/options/refuse.hpp"
#include "cli/subcommand.hpp"

namespace tca::tool {

namespace {

void check_not_modelled(const std::string& fabric) {
  if (fabric != "sim") return;
  const char* by_environment = base::variable("OPENTCA_FABRIC");
  refuse("{}: the ranks of a modelled machine are threads of one process; start the program by itself",
         by_environment && fabric == by_environment ? "OPENTCA_FABRIC=sim" : "--fabric sim");
}

void add_stdin_option(CLI::App& app, int& reader) {
  const auto read = [&reader](const std::string& word) {
    const auto [rest, error] = std::from_chars(word.data(), word.data() + word.size(), reader);
    const bool is_rank = error == std::errc() && rest == word.data() + word.size() && reader >= 0;
    if (word == "none")
      reader = nobody;
    else if (word == "all")
      reader = everybody;
    else if (!is_rank)
      throw CLI::ValidationError("--stdin", fmt::format("`{}`: give a rank, none or all", word));
  };
  app.add_option_function<std::string>(
         "--stdin", read, "Rank that reads standard input, a terminal included; the others read end of file")
      ->type_name("RANK|none|all")
      ->default_str("0");
}

int run(LaunchOptions options, const std::string& fabric) {
  check_not_modelled(fabric);
  if (options.stdin_reader > 0 && options.stdin_reader >= options.ranks)
    refuse("--stdin {}: the ranks are numbered from 0 to {}", options.stdin_reader, options.ranks - 1);
  if (fabric.empty()) return launch(options);
  options.environment.emplace_back("OPENTCA_FABRIC", fabric);
  if (!is_over_mpi(fabric)) return launch(options);
  if (options.tag) refuse("--tag: mpirun has its own way, mpirun --tag-output (Open MPI) or -l (MPICH)");
  return launch_under_mpirun(options);
}

}  // namespace

void add_run(Subcommands& tca) {
  auto options = std::make_shared<LaunchOptions>();
  auto fabric = std::make_shared<std::string>();
  CLI::App& app = tca.add("run", "Runs a program as several ranks on this host",
                          "tca run -n 4 -- ./heat2d 1000\n"
                          "tca run -n 2 --tag -- sh -c 'echo I am rank $OPENTCA_RANK of $OPENTCA_SIZE'",
                          [options, fabric] { return run(*options, *fabric); });
  app.add_option("-n,--ranks", options->ranks, "Number of ranks")->check(between(1, max_ranks))->required();
  add_bind_option(app, options->bind);
  add_stdin_option(app, options->stdin_reader);
  app.add_option("--fabric", *fabric,
                 "What carries the bytes where the program does not say; ranks on mpi, shm+mpi and cuda+mpi "
                 "are started by mpirun")
      ->envname("OPENTCA_FABRIC")
      ->check(any_fabric());
  add_sub_cluster_option(app, *fabric);
  app.add_flag("--tag", options->tag, "Begin each line of output with `[rank] `");
  app.add_option("PROGRAM", options->argv, "The program and its arguments, after `--`")
      ->required()
      ->expected(1, -1);
  app.positionals_at_end();
}

}  // namespace tca::tool
