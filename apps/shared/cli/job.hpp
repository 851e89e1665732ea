// The job of an application's command: its options about messages, and where it ran, for its reports.
#pragma once

#include <CLI/CLI.hpp>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "cli/launch/rank_job.hpp"
#include "measure/crowding.hpp"
#include "shared/channels.hpp"
#include "tca/world.hpp"

namespace tca::tool {

struct Record;

struct AppJob : RankJob {
  bool explain = false;
  std::vector<std::string> channels;  // NAME=CHANNEL
  bool sweep_channels = false;
  std::string json, plot;
  bool plots_results = false;  // --plot draws what was measured, and not what --sweep-channels finds
};

// Adds --explain and --channel.
void add_message_options(CLI::App& app, AppJob& job);
void add_json_option(CLI::App& app, AppJob& job);
// Adds --sweep-channels and --plot.
void add_sweep_options(CLI::App& app, AppJob& job);
// Adds --plot for results; `drawn` says what of them is drawn.
void add_plot_option(CLI::App& app, AppJob& job, const std::string& drawn);

// Refuses what these options cannot mean in a job whose messages have these names. Returns the channels that
// they force.
apps::Channels check_messages(const AppJob& job, std::span<const std::string_view> names, int ranks);

// Where a job runs.
struct JobReport {
  std::string world = {};      // from World::describe()
  std::string placement = {};  // from bench::placement(); empty on sim
  int processors = 0;          // that the ranks have between them; 0 where they need none of their own
  std::string fabric = "shm";
  std::string model = {};  // as Record::model; empty where time is real
  int ranks = 1;
  bench::Crowding crowding = {};
};

// The library measured beside OpenTCA, if any.
struct PeerLibrary {
  std::string name = "MPI";  // or "NCCL"
  std::string version = {};
};

// Makes a record, of OpenTCA as for the rest, that of what was measured with such a library.
void set_peer(Record& record, const PeerLibrary& peer);

// Collective.
JobReport describe_job(World& world, const RankJob& job);

// Prints the machine, the places of the ranks, the versions and the world, a line each.
void print_job(const JobReport& job, const std::string& peer_version);
// Says so where the ranks had fewer processors than they are, or shared them with other programs.
void print_crowding(const JobReport& job);

}  // namespace tca::tool
