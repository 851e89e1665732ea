#include "bfs/cli/report.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <optional>

#include "cli/output/compared.hpp"
#include "cli/output/record.hpp"

namespace tca::tool {
namespace {

std::string describe_style(const BfsReport& report) {
  return report.style == "packed" ? "from above and below, one message a level (packed)"
                                  : "from below, with the messages of the PEACH3 paper";
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

void print_messages(const std::string& name, const bfs::Result& result) {
  if (result.messages.empty()) return;
  fmt::print("\n{:<10}{:>14}{:>14}{:>12}{:>14}{:>10}\n", name, "bytes", "a search", "us", "waiting us",
             "share");
  const double search = median(result.samples_us);
  for (const bfs::MessageCost& cost : result.messages)
    fmt::print("{:<10}{:>14}{:>14.1f}{:>12.2f}{:>14.2f}{:>8.0f} %\n", bfs::name_of(cost.message), cost.bytes,
               cost.count, cost.us, cost.waiting_us, 100 * cost.count * cost.us / search);
}

nlohmann::ordered_json messages_of(const bfs::Result& result) {
  auto all = nlohmann::ordered_json::array();
  for (const bfs::MessageCost& cost : result.messages)
    all.push_back({{"name", bfs::name_of(cost.message)},
                   {"bytes", cost.bytes},
                   {"count", rounded(cost.count)},
                   {"median_us", rounded(cost.us)},
                   {"waiting_us", rounded(cost.waiting_us)}});
  return all;
}

// Returns what all ranks together send in a search, on average.
std::int64_t bytes_sent(const bfs::Result& result, int ranks) {
  double all = 0;
  for (const bfs::MessageCost& cost : result.messages) {
    const int senders = cost.message == bfs::Message::tree ? 1 : ranks;
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
             problem.edges(), report.ranks, report.ranks == 1 ? "" : "s", describe_style(report));
  fmt::print("machine   {}\n", report.model.empty() ? hardware() : "a model of " + report.model);
  if (!report.placement.empty()) fmt::print("ranks     {}\n", report.placement);
  fmt::print("versions  {}\n", versions_in_words(report.results.size() > 1 ? report.mpi : ""));
  fmt::print("world     {}\n", report.world);
  fmt::print("graph     {} vertices have neighbours", report.connected);
  if (report.model.empty())  // a modelled machine is not told what they compute
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

void print(const BfsReport& report) {
  const bfs::Result& own = report.results.front();
  const bool compared_to_mpi = report.results.size() > 1;
  print_head(report);
  fmt::print("searches  {}, of {} levels\n", own.samples_us.size(), describe_levels(own));
  fmt::print("answer    {}\n", bfs_answer(own, report.validated));
  if (compared_to_mpi) fmt::print("by MPI    {}\n", bfs_answer(report.results[1], report.validated));
  fmt::print("\n{:<10}{:>14}{:>14}{:>14}{:>14}{:>14}\n", "", "search us", "GTEPS", "1st quartile", "median",
             "3rd quartile");
  print_row("OpenTCA", own);
  if (compared_to_mpi) print_row("MPI", report.results[1]);
  fmt::print(
      "The median time of a search, on its slowest rank, and 10^9 traversed edges per second: the harmonic\n"
      "mean of all searches, and quartiles.\n");
  if (compared_to_mpi)
    fmt::print("\nsearching       {}\n",
               compared("MPI", median(own.samples_us), median(report.results[1].samples_us), ratio(report)));
  print_messages("OpenTCA", own);
  if (compared_to_mpi) print_messages("MPI", report.results[1]);
  if (report.processors > 0 && report.ranks > report.processors)
    fmt::print("\n{} ranks share {} processor{} and mostly wait for their turn; --ranks {} says more.\n",
               report.ranks, report.processors, report.processors == 1 ? "" : "s", report.processors);
}

void append_json(const BfsReport& report, const std::string& path) {
  for (std::size_t which = 0; which < report.results.size(); ++which) {
    const bfs::Result& result = report.results[which];
    const bool mpi = which == 1;
    Record record{.bench = "graph500_bfs",
                  .fabric = mpi ? "mpi" : report.fabric,
                  .protocol = mpi ? "persistent" : protocols_in(report.explain),
                  .peer = mpi ? std::optional<std::string>("mpi") : std::nullopt,
                  .layout = report.style,
                  .ranks = report.ranks,
                  .n = report.problem.vertices(),
                  .bytes = bytes_sent(result, report.ranks),
                  .samples_us = result.samples_us,
                  .mpi_version = mpi ? report.mpi : "",
                  .model = report.model};
    const std::vector<double> teps = result.teps();
    record.extra = {{"scale", report.problem.scale},
                    {"edge_factor", report.problem.edge_factor},
                    {"searches", result.samples_us.size()},
                    {"levels", std::ranges::max(result.levels)},
                    {"teps_harmonic_mean", rounded(result.harmonic_mean())},
                    {"teps_first_quartile", rounded(quantile(teps, 0.25))},
                    {"teps_median", rounded(quantile(teps, 0.5))},
                    {"teps_third_quartile", rounded(quantile(teps, 0.75))},
                    {"messages", messages_of(result)}};
    if (report.model.empty()) {
      record.extra["generation_seconds"] = rounded(report.generation_seconds);
      record.extra["construction_seconds"] = rounded(report.construction_seconds);
    }
    record.extra["validated"] = nullptr;
    if (report.validated) record.extra["validated"] = result.failures == 0;
    if (!report.placement.empty()) record.extra["placement"] = report.placement;
    if (mpi) add_ratio("ratio", ratio(report), record);
    append_line(path, record.line());
  }
}

}  // namespace tca::tool
