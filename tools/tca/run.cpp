// `tca run`: any program as N ranks on this host.
#include <memory>

#include "launch.hpp"
#include "subcommand.hpp"

namespace tca::tool {

void add_run(Subcommands& tca) {
  auto options = std::make_shared<LaunchOptions>();
  CLI::App& app = tca.add("run", "Runs a program as several ranks on this host",
                          "tca run -n 4 -- ./heat2d 1000\n"
                          "tca run -n 2 --tag -- sh -c 'echo I am rank $OPENTCA_RANK of $OPENTCA_SIZE'",
                          [options] { return launch(*options); });
  app.add_option("-n,--ranks", options->ranks, "How many ranks, 1 to 4096")->required();
  add_bind_option(app, options->bind);
  app.add_flag("--tag", options->tag, "Begin each line of output with `[rank] `");
  app.add_option("PROGRAM", options->argv, "The program and its arguments, after `--`")
      ->required()
      ->expected(1, -1);
  app.positionals_at_end();
}

}  // namespace tca::tool
