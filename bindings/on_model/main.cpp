// tca-on-model: runs a program for TCA or APEnet+ on a modelled machine, whose ranks are threads of this process.
#include <fmt/format.h>

#include <CLI/CLI.hpp>
#include <atomic>
#include <cstdio>
#include <cstdlib>
#include <string>
#include <vector>

#include "on_model/program.hpp"
#include "shared/program_rank.hpp"
#include "tca/error.hpp"
#include "tca/world.hpp"

namespace {

// A program for a machine's network goes over that one, even where MPI would be faster.
void choose_channel(const tca::on_model::Program& program) {
  constexpr int unless_set = 0;
  if (program.names("tcaInit")) setenv("OPENTCA_CHANNEL", "tca", unless_set);
  if (program.names("ape_open")) setenv("OPENTCA_CHANNEL", "ape", unless_set);
}

int run(int ranks, const tca::WorldOptions& options, const std::string& path,
        const std::vector<std::string>& arguments) {
  const tca::on_model::Program program(path);
  choose_channel(program);
  std::atomic<int> status{0};
  tca::World::run_threads(
      ranks,
      [&](tca::World& world) {
        tca::bindings::ProgramRank rank(world);
        const int own = program.run(arguments);
        int none = 0;
        if (own != 0 && status.compare_exchange_strong(none, own))
          fmt::print(stderr, "tca-on-model: rank {} has ended with {}\n", world.rank(), own);
      },
      options);
  return status;
}

}  // namespace

int main(int argc, char** argv) {
  CLI::App app("Runs a program for TCA or APEnet+ on a modelled machine; see docs/seeds.md", "tca-on-model");
  int ranks = 2;
  tca::WorldOptions options;
  options.fabric = "sim";
  std::string program;
  std::vector<std::string> arguments;
  app.add_option("-n,--ranks", ranks, "How many ranks")->capture_default_str();
  app.add_option("--machine", options.machine, "The machine, such as ha-pacs-tca or quong, or a file");
  app.add_option("--fidelity", options.fidelity, "tlp, train, flow or rtl");
  app.add_option("PROGRAM", program, "The program, compiled with -shared -fPIC")->required();
  app.add_option("ARGUMENTS", arguments, "Its arguments");
  app.positionals_at_end();
  app.prefix_command(false);
  app.failure_message([](const CLI::App*, const CLI::Error& error) {
    return fmt::format("tca-on-model: {}\nTry `tca-on-model --help`.\n", error.what());
  });
  try {
    app.parse(argc, argv);
    return run(ranks, options, program, arguments);
  } catch (const CLI::ParseError& error) {
    return app.exit(error) == 0 ? 0 : 2;
  } catch (const tca::Error& error) {
    std::fflush(stdout);
    fmt::print(stderr, "tca-on-model: {}\n", error.what());
    return error.exit_code();
  }
}
