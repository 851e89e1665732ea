#include "bfs/cli/report.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <optional>
#include <utility>

#include "bfs/cli/levels.hpp"
#include "cli/output/compared.hpp"
#include "cli/output/record.hpp"

namespace tca::tool {
namespace {

std::string describe_style(const BfsReport& report) {
  return report.style == "packed" ? "from above and below, one message a level (packed)"
                                  : "from below, with the messages of the PEACH3 paper";
}

std::string describe_start(const BfsReport& report) {
  if (report.start == "resident") return "root after root, of one kernel that stays on the GPUs";
  if (report.start == "kernel") return "one kernel a search";
  return report.start == "graph" ? "a CUDA graph a level" : "the host, kernel by kernel";
}

std::string describe_levels(const bfs::Result& result) {
  const auto [least, most] = std::ranges::minmax(result.levels);
  return least == most ? fmt::format("{}", most) : fmt::format("{} to {}", least, most);
}

void print_row(const std::string& name, const bfs::Result& result) {
  const std::vector<double> teps = result.teps();
  fmt::print("{:<10}{:>14.1f}{:>14.4f}", name, median(result.samples_us), result.harmonic_mean() * 1e-9);
  for (const double fraction : {0.25, 0.5, 0.75}) fmt::print("{:>14.4f}", quantile(teps, fraction) * 1e-9);
  fmt::print("\n");
}

bool is_compared(const BfsReport& report) { return report.results.size() > 1 && report.channels.empty(); }

MessageTable table_of(const std::string& who, const bfs::Result& result) {
  return {.who = who, .step = "a search", .step_us = median(result.samples_us), .costs = result.messages};
}

SweepReport sweep_of(const BfsReport& report) {
  SweepReport sweep{.step = "search us",
                    .figure = "GTEPS",
                    .own_us = median(report.results.front().samples_us),
                    .own = report.explained};
  for (const ExplainedMessage& message : report.explained) sweep.names.push_back(message.name);
  for (std::size_t i = 0; i < report.channels.size(); ++i) {
    const bfs::Result& result = report.results[i + 1];
    sweep.tried.push_back({report.channels[i], median(result.samples_us), result.harmonic_mean() * 1e-9});
  }
  return sweep;
}

// Returns what all ranks together send in a search, on average.
std::int64_t bytes_sent(const bfs::Result& result, int ranks) {
  double all = 0;
  for (const apps::MessageCost& cost : result.messages) {
    const int senders = cost.name == bfs::name_of(bfs::Message::tree) ? 1 : ranks;
    all += cost.count * static_cast<double>(cost.bytes) * senders * (ranks - 1);
  }
  return std::llround(all);
}

std::optional<bench::Spread> ratio(const BfsReport& report) {
  return bench::ratio_by_round(report.results[1].samples_us, report.results[0].samples_us);
}

void print_head(const BfsReport& report) {
  const bfs::Problem& problem = report.problem;
  fmt::print("BFS of scale {}: {} vertices, {} edges, {} rank{}, {}\n", problem.scale, problem.vertices(),
             problem.edges(), report.job.ranks, report.job.ranks == 1 ? "" : "s", describe_style(report));
  if (!report.gpus.empty())
    fmt::print("GPUs      {}\nstarted   by {}\n", report.gpus, describe_start(report));
  print_job(report.job, is_compared(report) && report.peer.name == "MPI" ? report.peer.version : "");
  fmt::print("graph     {} vertices have neighbours", report.connected);
  if (report.job.model.empty())  // a modelled machine is not told what they compute
    fmt::print("; generated in {:.3g} s, constructed in {:.3g} s", report.generation_seconds,
               report.construction_seconds);
  fmt::print("\n");
}

}  // namespace

bool BfsReport::is_right() const {
  return std::ranges::all_of(results, [](const bfs::Result& result) { return result.failures == 0; });
}

std::string bfs_answer(const bfs::Result& result, bool validated) {
  if (!validated) return "not validated; --validate checks every search against the list of edges";
  if (result.failures == 0) return "right: every search follows the five rules, by the list of edges";
  return fmt::format("WRONG: {} of {} searches; the first of them from vertex {}: {}", result.failures,
                     result.samples_us.size(), result.first->root, result.first->fault.describe());
}

void print(const BfsReport& report, const AppJob& job) {
  const bfs::Result& own = report.results.front();
  print_head(report);
  fmt::print("searches  {}, of {} levels\n", own.samples_us.size(), describe_levels(own));
  fmt::print("answer    {}\n", bfs_answer(own, report.validated));
  const std::string& peer = report.peer.name;
  if (is_compared(report)) fmt::print("by {:<7}{}\n", peer, bfs_answer(report.results[1], report.validated));
  fmt::print("\n{:<10}{:>14}{:>14}{:>14}{:>14}{:>14}\n", "", "search us", "GTEPS", "1st quartile", "median",
             "3rd quartile");
  print_row("OpenTCA", own);
  if (is_compared(report)) print_row(peer, report.results[1]);
  fmt::print(
      "The median time of a search, on its slowest rank, and 10^9 traversed edges per second: the harmonic\n"
      "mean of all searches, and quartiles.\n");
  if (!own.kernel_us.empty())
    fmt::print("Of the time the kernel takes {:.1f} us from the root to the end; the rest is {}.\n",
               median(own.kernel_us),
               report.start == "resident" ? "the way of the root and the result" : "its launch");
  if (is_compared(report))
    fmt::print("\nsearching       {}\n",
               compared(peer, median(own.samples_us), median(report.results[1].samples_us), ratio(report)));
  if (job.explain) print_levels(own);
  print_messages(table_of("OpenTCA", own), report.explained, job);
  if (report.messages_by_host) fmt::print("{}", said_of_messages_by_host);
  if (is_compared(report)) print_messages(table_of(peer, report.results[1]));
  if (!report.channels.empty()) print(sweep_of(report));
  print_crowding(report.job);
}

namespace {

Record record_of(const BfsReport& report, const bfs::Result& result) {
  Record record{.bench = "graph500_bfs",
                .fabric = report.job.fabric,
                .protocol = protocols_in(joined(report.explained)),
                .start = report.start,
                .layout = report.style,
                .ranks = report.job.ranks,
                .n = report.problem.vertices(),
                .bytes = bytes_sent(result, report.job.ranks),
                .samples_us = result.samples_us,
                .gpus = report.gpus,
                .model = report.job.model,
                .libraries = report.libraries};
  const std::vector<double> teps = result.teps();
  record.extra = {{"scale", report.problem.scale},
                  {"edge_factor", report.problem.edge_factor},
                  {"searches", result.samples_us.size()},
                  {"levels", std::ranges::max(result.levels)},
                  {"teps_harmonic_mean", rounded(result.harmonic_mean())},
                  {"teps_first_quartile", rounded(quantile(teps, 0.25))},
                  {"teps_median", rounded(quantile(teps, 0.5))},
                  {"teps_third_quartile", rounded(quantile(teps, 0.75))},
                  {"messages", json_of(result.messages)}};
  if (!result.kernel_us.empty()) {
    record.extra["kernel_us"] = rounded(median(result.kernel_us));
    record.extra["levels_in_kernel"] = json_of_levels(result);
  }
  if (report.job.model.empty()) {
    record.extra["generation_seconds"] = rounded(report.generation_seconds);
    record.extra["construction_seconds"] = rounded(report.construction_seconds);
  }
  record.extra["validated"] = nullptr;
  if (report.validated) record.extra["validated"] = result.failures == 0;
  if (!report.job.placement.empty()) record.extra["placement"] = report.job.placement;
  return record;
}

}  // namespace

void keep(const BfsReport& report, const AppJob& job) {
  std::vector<Record> records;
  for (const bfs::Result& result : report.results) records.push_back(record_of(report, result));
  records.front().extra["messages"] = json_of(report.results.front().messages, report.explained);
  if (is_compared(report)) {
    set_peer(records[1], report.peer);
    add_ratio("ratio", ratio(report), records[1]);
  }
  keep_records(job, sweep_of(report), std::move(records));
}

}  // namespace tca::tool
