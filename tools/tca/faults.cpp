// `tca faults`: how long it takes until the ranks of a modelled machine know that a part of it has failed.
#include "cli/output/faults.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <memory>
#include <string>

#include "boot/bring_up.hpp"
#include "cli/launch/rank_job.hpp"
#include "cli/options/refuse.hpp"
#include "cli/output/record.hpp"
#include "cli/subcommand.hpp"
#include "model/machine/machine.hpp"
#include "model/net/faults/fault.hpp"
#include "tca/world.hpp"

namespace tca::tool {
namespace {

struct FaultsOptions {
  int ranks = 16;
  bool ranks_given = false;
  std::string machine, faults, json;
};

// Returns the time by which whoever can be told has been: after twice the longest silence.
double last_word(const net::Machine& machine, const std::string& faults) {
  des::Time latest = 0;
  for (const net::Fault& fault :
       net::read_faults(faults, faults_by_option(faults).empty() ? "OPENTCA_FAULTS" : "--fault"))
    latest = std::max(latest, fault.at);
  const des::Time silence = machine.watch ? std::max(machine.watch->silence, machine.watch->host_silence) : 0;
  return des::to_us(latest + 2 * silence) * 1e-6;
}

int run(const FaultsOptions& options) {
  if (options.faults.empty()) refuse("say what fails: --fault cable:0-1@20us, hub:3@50us or host:2@1ms");
  check_writable(options.json);
  check_number_of_ranks("sim", options.ranks);
  const net::Machine machine = net::read_machine(boot::machine_name(options.machine));
  const double end = last_word(machine, options.faults);
  FaultReport report(options.faults, options.ranks);
  const auto idle = [&](World& world) {
    try {
      while (world.now().count() < end) {
        world.compute(0, 0);
        world.progress();
      }
    } catch (const Error& error) {
      if (error.code() != Errc::rank_lost) throw;  // its own host has stopped
    }
    report.note(world);
  };
  fmt::print("machine   a model of {}, {} ranks, in its own time\n", machine.title, options.ranks);
  World::run_threads(options.ranks, idle,
                     {.fabric = "sim",
                      .machine = options.machine,
                      .faults = faults_by_option(options.faults),
                      .fibers = true});
  report.print();
  if (options.json.empty()) return 0;
  nlohmann::ordered_json line{{"command", "faults"}, {"machine", machine.name}, {"ranks", options.ranks}};
  line.update(report.json());
  append_line(options.json, line.dump());
  return 0;
}

}  // namespace

void add_faults(Subcommands& tca) {
  auto options = std::make_shared<FaultsOptions>();
  CLI::App& app =
      tca.add("faults", "Tells how soon the ranks of a modelled machine know what has failed",
              "tca faults --machine quong --fault cable:0-1@20us\n"
              "tca faults --machine ha-pacs-tca --fault hub:3@50us,cable:0-1@60us --json faults.jsonl",
              [options] { return run(*options); });
  add_ranks_option(app, "Number of ranks", options->ranks, options->ranks_given, most_modelled_ranks);
  app.add_option("--machine", options->machine, "Machine to model: the name or the path of a machine file")
      ->envname("OPENTCA_MACHINE");
  add_fault_option(app, options->faults);
  app.add_option("--json", options->json, "Append a line of JSON to this file")->type_name("FILE");
}

}  // namespace tca::tool
