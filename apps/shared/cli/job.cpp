#include "shared/cli/job.hpp"

#include <fmt/format.h>

#include "base/system/environment.hpp"
#include "boot/bring_up.hpp"
#include "cli/options/refuse.hpp"
#include "cli/output/plot.hpp"
#include "cli/output/record.hpp"
#include "measure/placement.hpp"
#include "model/machine/machine.hpp"

namespace tca::tool {
namespace {

void check_sweep(const AppJob& job, int ranks) {
  if (job.plots_results) return check_drawable(job.plot);
  if (!job.sweep_channels) {
    if (!job.plot.empty()) refuse("--plot draws what --sweep-channels finds; add --sweep-channels");
    return;
  }
  if (ranks == 1) refuse("--sweep-channels: a lone rank sends nothing; --ranks 2 does");
  if (job.compare) refuse("--sweep-channels compares channels with each other; leave --compare out");
  if (const char* const forced = base::set_variable("OPENTCA_CHANNEL"))
    refuse("--sweep-channels: OPENTCA_CHANNEL={} forces one channel for all messages; unset it", forced);
  check_drawable(job.plot);
}

}  // namespace

void add_message_options(CLI::App& app, AppJob& job) {
  app.add_flag(
      "--explain", job.explain,
      "Print for each message its channel, what it should take and takes, and the next best channel; "
      "and why each put takes its channel");
  app.add_option("--channel", job.channels,
                 "Channel to force for a message, such as OUT=shm/staged; may be given for several")
      ->type_name("NAME=CHANNEL")
      ->allow_extra_args(false)
      ->delimiter(',');
}

void add_json_option(CLI::App& app, AppJob& job) {
  app.add_option("--json", job.json, "Append the result, as one line of JSON, to this file")
      ->type_name("FILE");
}

void add_sweep_options(CLI::App& app, AppJob& job) {
  app.add_flag(
      "--sweep-channels", job.sweep_channels,
      "Try every combination of the messages' channels, in turns, and compare them with the library's own "
      "choice; a message with a --channel keeps it");
  app.add_option(
         "--plot", job.plot,
         "Draw these combinations into this file, .svg, .png or .pdf; with --json all that its file has, "
         "of other sizes too")
      ->type_name("FILE");
}

void add_plot_option(CLI::App& app, AppJob& job, const std::string& drawn) {
  job.plots_results = true;
  app.add_option("--plot", job.plot,
                 "Draw " + drawn + " into this file, .svg, .png or .pdf; with --json all that its file has")
      ->type_name("FILE");
}

apps::Channels check_messages(const AppJob& job, std::span<const std::string_view> names, int ranks) {
  check_distinct({{"--json", job.json}, {"--plot", job.plot}});
  check_writable(job.json);
  check_sweep(job, ranks);
  return {job.channels, names};
}

void set_peer(Record& record, const PeerLibrary& peer) {
  const bool mpi = peer.name == "MPI";
  record.fabric = mpi ? "mpi" : "nccl";
  record.protocol = mpi ? "persistent" : "collectives";
  record.peer = record.fabric;
  if (mpi) {
    record.mpi_version = peer.version;
  } else {
    record.start = "graph";
    record.libraries["nccl"] = peer.version;
  }
}

JobReport describe_job(World& world, const RankJob& job) {
  const bool is_modelled = job.fabric == "sim";
  return {.world = world.describe(),
          .placement = is_modelled ? "" : bench::placement(world),
          .processors = is_modelled || on_gpus(job) ? 0 : bench::processors_of(bench::places(world)),
          .fabric = job.fabric,
          .model = is_modelled ? net::read_machine(boot::machine_name(job.machine)).title : "",
          .ranks = world.size()};
}

void print_job(const JobReport& job, const std::string& peer_version) {
  fmt::print("machine   {}\n", job.model.empty() ? hardware() : "a model of " + job.model);
  if (!job.placement.empty()) fmt::print("ranks     {}\n", job.placement);
  fmt::print("versions  {}\n", versions_in_words(peer_version));
  fmt::print("world     {}\n", job.world);
}

void print_crowding(const JobReport& job) {
  if (job.processors == 0) return;
  if (const std::string words = job.crowding.in_words(job.ranks, job.processors); !words.empty())
    fmt::print("\n{}", words);
}

}  // namespace tca::tool
