// `tca bench commit`: measures what the commit of a chain costs, and how much of it is the fabric's own work; on sim,
// what a halo's costs this host where there are many ranks.
#include "bench/commit.hpp"

#include <fmt/format.h>

#include "bench/report.hpp"
#include "cli/options/refuse.hpp"
#include "commit_at_scale.hpp"
#include "commit_costs.hpp"

namespace tca::tool {

// The fabric's own work is compared with the whole commit, so there must be a single fabric, which carries
// every put.
void check_commit_bench(const BenchOptions& options) {
  if (options.fabric != "shm" && options.fabric != "sim")
    refuse("commit is measured on shm and on sim, not on {}; say --fabric shm", options.fabric);
  if (!options.peers.empty()) refuse("--peer {} knows no commit", options.peers[0]);
}

void run_commit_bench(World& world, const BenchOptions& options) {
  const bench::CommitCosts costs = [&] {
    Progress bar = bench_progress(world, options, fmt::format("{} descriptors", options.descriptors));
    return bench::measure_commit(world, options.descriptors, options.channel,
                                 options.effort.rounds * options.effort.placements,
                                 [&](int rounds) { bar.update(rounds); });
  }();
  const BenchReport report(options, world);
  report.heading();
  if (world.rank() != 0) return;
  const bench::Samples beyond = costs.beyond_us();
  fmt::print("{:<44}{:>12}{:>12}\n", fmt::format("commit of {} descriptors", options.descriptors),
             "median us", "p99 us");
  const auto row = [](const char* what, const bench::Samples& samples) {
    fmt::print("{:<44}{:>12.4g}{:>12.4g}\n", what, median(samples), quantile(samples, 0.99));
  };
  row("whole", costs.whole_us);
  row("the fabric's own work", costs.fabric_us);
  row("beyond it", beyond);
  row("of which choosing the channels", costs.route_us);
  if (options.json.empty()) return;
  Record record;
  record.bench = options.what;
  record.fabric = options.fabric;
  record.protocol = options.channel.empty() ? "chosen" : options.channel;
  record.layout = "mixed";
  record.ranks = world.size();
  record.n = options.descriptors;
  record.bytes = static_cast<std::int64_t>(costs.bytes);
  record.samples_us = beyond;
  record.extra["whole_us"] = rounded(median(costs.whole_us));
  record.extra["fabric_us"] = rounded(median(costs.fabric_us));
  record.extra["route_us"] = rounded(median(costs.route_us));
  append_line(options.json, record.line());
}

void run_modelled_commit_bench(const BenchOptions& options, const WorldOptions& world_options) {
  const bench::CommitAtScale costs = bench::measure_commit_at_scale(options.ranks, world_options);
  const auto a_rank = [&](double all) { return all / options.ranks; };
  fmt::print(
      "machine   a model of {}; the times are what a processor of this host needs for all {} ranks\n\n",
      modelled(options).title, options.ranks);
  const auto row = [](const char* what, const std::string& figure) {
    fmt::print("{:<44}{:>12}\n", what, figure);
  };
  row("world up, s", fmt::format("{:.4g}", costs.up_s));
  row("halo and window made, s", fmt::format("{:.4g}", costs.made_s));
  row("commit, s", fmt::format("{:.4g}", costs.commit_s));
  row("commit, us a rank", fmt::format("{:.4g}", a_rank(costs.commit_s * 1e6)));
  row("all, until the world is over, s", fmt::format("{:.4g}", costs.whole_s));
  row("memory of the commit, KB a rank",
      fmt::format("{:.4g}", a_rank(static_cast<double>(costs.commit_bytes) / 1e3)));
  row("memory at most, KB a rank",
      fmt::format("{:.4g}", a_rank(static_cast<double>(costs.whole_bytes) / 1e3)));
  if (options.json.empty()) return;
  Record record;
  record.bench = options.what;
  record.fabric = options.fabric;
  record.protocol = "chosen";
  record.layout = "faces, edges and corners";
  record.ranks = options.ranks;
  record.n = 26;
  record.bytes = static_cast<std::int64_t>(costs.sent);
  record.samples_us = {a_rank(costs.commit_s * 1e6)};
  record.extra["machine"] = options.machine;
  record.extra["up_s"] = rounded(costs.up_s);
  record.extra["made_s"] = rounded(costs.made_s);
  record.extra["commit_s"] = rounded(costs.commit_s);
  record.extra["whole_s"] = rounded(costs.whole_s);
  record.extra["commit_bytes_a_rank"] = rounded(a_rank(static_cast<double>(costs.commit_bytes)));
  record.extra["whole_bytes_a_rank"] = rounded(a_rank(static_cast<double>(costs.whole_bytes)));
  append_line(options.json, record.line());
}

}  // namespace tca::tool
