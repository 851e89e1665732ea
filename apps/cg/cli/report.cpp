#include "cg/cli/report.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <optional>
#include <utility>
#include <vector>

#include "cli/output/compared.hpp"
#include "cli/output/record.hpp"

namespace tca::tool {
namespace {

cg::Verification verification(const cg::Result& result, const cg::Problem& problem) {
  return {.zeta = result.last.zeta, .published = problem.zeta};
}

std::string describe_order(const std::string& order) {
  return order == "npb" ? "two sums an iteration, as NPB orders them" : "one sum an iteration (merged)";
}

std::string describe_grid(const CgReport& report) {
  if (report.job.ranks == 1) return "";
  return report.grid.ends_with("x1") ? ", by rows" : fmt::format(", blocks on a grid of {}", report.grid);
}

std::string describe_start(const CgReport& report) {
  if (report.start == "kernel") return "one kernel, which runs all steps";
  return report.start == "graph" ? "a CUDA graph a step" : "the host, kernel by kernel";
}

void print_row(const std::string& name, const cg::Result& result, const cg::Problem& problem) {
  fmt::print("{:<10}{:>14.2f}{:>14.4f}{:>12.0f}\n", name, median(result.samples_us), median(result.seconds),
             result.mops(problem));
}

bool is_compared(const CgReport& report) { return report.results.size() > 1 && report.channels.empty(); }

MessageTable table_of(const std::string& who, const cg::Result& result) {
  return {.who = who, .step = "an iteration", .step_us = median(result.samples_us), .costs = result.messages};
}

SweepReport sweep_of(const CgReport& report) {
  SweepReport sweep{.step = "iteration us",
                    .figure = "Mop/s",
                    .own_us = median(report.results.front().samples_us),
                    .own = report.explained};
  for (const ExplainedMessage& message : report.explained) sweep.names.push_back(message.name);
  for (std::size_t i = 0; i < report.channels.size(); ++i) {
    const cg::Result& result = report.results[i + 1];
    sweep.tried.push_back({report.channels[i], median(result.samples_us), result.mops(report.problem)});
  }
  return sweep;
}

std::optional<bench::Spread> ratio(const CgReport& report) {
  return bench::ratio_by_round(report.results[1].runs_us, report.results[0].runs_us);
}

}  // namespace

bool CgReport::verified() const {
  return std::ranges::all_of(
      results, [&](const cg::Result& result) { return verification(result, problem).verified(); });
}

std::string cg_answer(const cg::Result& result, const cg::Problem& problem) {
  const cg::Verification found = verification(result, problem);
  if (found.verified())
    return fmt::format("right: zeta is the published one up to {:.1e} of it ({:.0e} is allowed)",
                       found.error(), cg::tolerance);
  return fmt::format("WRONG: zeta is {:.13f}, the published one is {:.13f}; they differ by {:.1e} of it",
                     found.zeta, found.published, found.error());
}

void print(const CgReport& report, const AppJob& job) {
  const cg::Problem& problem = report.problem;
  const cg::Result& own = report.results.front();
  fmt::print("CG class {}: {} rows, {} elements, {} rank{}{}, {}\n", problem.name, problem.n, report.nonzeros,
             report.job.ranks, report.job.ranks == 1 ? "" : "s", describe_grid(report),
             describe_order(report.order));
  const std::string& peer = report.peer.name;
  if (!report.gpus.empty())
    fmt::print("GPUs      {}\nstarted   by {}\n", report.gpus, describe_start(report));
  print_job(report.job, is_compared(report) && peer == "MPI" ? report.peer.version : "");
  fmt::print("zeta      {:.13f} after {} steps of {} iterations, the last with a residual of {:.2e}\n",
             own.last.zeta, problem.steps, cg::inner_iterations, own.last.residual);
  fmt::print("answer    {}\n", cg_answer(own, problem));
  if (is_compared(report)) fmt::print("by {:<7}{}\n", peer, cg_answer(report.results[1], problem));
  fmt::print("\n{:<10}{:>14}{:>14}{:>12}\n", "", "iteration us", "seconds", "Mop/s");
  print_row("OpenTCA", own, problem);
  if (is_compared(report)) print_row(peer, report.results[1], problem);
  fmt::print(
      "Medians over the {}, of {} time by its iterations, and over {} run{}, each of the slowest rank.\n",
      report.gpus.empty() ? "steps" : "runs", report.gpus.empty() ? "a step's" : "a run's",
      own.seconds.size(), own.seconds.size() == 1 ? "" : "s");
  if (is_compared(report))
    fmt::print("\niterating       {}\n",
               compared(peer, median(own.samples_us), median(report.results[1].samples_us), ratio(report)));
  print_messages(table_of("OpenTCA", own), report.explained, job);
  if (report.messages_by_host) fmt::print("{}", said_of_messages_by_host);
  if (is_compared(report)) print_messages(table_of(peer, report.results[1]));
  if (!report.channels.empty()) print(sweep_of(report));
  print_crowding(report.job);
}

namespace {

Record record_of(const CgReport& report, const cg::Result& result) {
  const cg::Verification found = verification(result, report.problem);
  Record record{.bench = "npb_cg",
                .fabric = report.job.fabric,
                .protocol = protocols_in(joined(report.explained)),
                .start = report.start,
                .layout = "grid " + report.grid,
                .ranks = report.job.ranks,
                .n = report.problem.n,
                .bytes = report.bytes,
                .samples_us = result.samples_us,
                .gpus = report.gpus,
                .model = report.job.model,
                .libraries = report.libraries};
  record.extra = {{"class", report.problem.name},
                  {"order", report.order},
                  {"nonzeros", report.nonzeros},
                  {"zeta", found.zeta},
                  {"zeta_error", rounded(found.error())},
                  {"verified", found.verified()},
                  {"residual", result.last.residual},
                  {"runs", result.seconds.size()},
                  {"seconds", rounded(median(result.seconds))},
                  {"mops", std::round(result.mops(report.problem))},
                  {"messages", json_of(result.messages)}};
  if (!report.job.placement.empty()) record.extra["placement"] = report.job.placement;
  return record;
}

}  // namespace

void keep(const CgReport& report, const AppJob& job) {
  std::vector<Record> records;
  for (const cg::Result& result : report.results) records.push_back(record_of(report, result));
  records.front().extra["messages"] = json_of(report.results.front().messages, report.explained);
  if (is_compared(report)) {
    set_peer(records[1], report.peer);
    add_ratio("ratio", ratio(report), records[1]);
  }
  keep_records(job, sweep_of(report), std::move(records));
}

}  // namespace tca::tool
