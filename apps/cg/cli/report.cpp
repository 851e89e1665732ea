#include "cg/cli/report.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <numeric>
#include <optional>

#include "cli/output/compared.hpp"
#include "cli/output/record.hpp"

namespace tca::tool {

using namespace std::string_literals;

namespace {

cg::Verification verification(const cg::Result& result, const cg::Problem& problem) {
  return {.zeta = result.last.zeta, .published = problem.zeta};
}

std::string describe_order(const std::string& order) {
  return order == "npb" ? "two sums an iteration, as NPB orders them" : "one sum an iteration (merged)";
}

std::string describe_grid(const CgReport& report) {
  if (report.ranks == 1) return "";
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

void print_messages(const std::string& name, const CgReport& report, const cg::Result& result) {
  if (result.messages.empty()) return;
  fmt::print("\n{:<10}{:>14}{:>14}{:>12}{:>14}{:>10}\n", name, "bytes", "an iteration", "us", "waiting us",
             "share");
  const double iteration = median(result.samples_us);
  for (std::size_t i = 0; i < result.messages.size(); ++i) {
    const cg::MessageCost& cost = result.messages[i];
    fmt::print("{:<10}{:>14}{:>14.0f}{:>12.2f}{:>14.2f}{:>8.0f} %\n", cg::name_of(cost.message),
               report.message_bytes[i], cost.count, cost.us, cost.waiting_us,
               100 * cost.count * cost.us / iteration);
  }
}

nlohmann::ordered_json messages_of(const CgReport& report, const cg::Result& result) {
  auto all = nlohmann::ordered_json::array();
  for (std::size_t i = 0; i < result.messages.size(); ++i) {
    const cg::MessageCost& cost = result.messages[i];
    all.push_back({{"name", cg::name_of(cost.message)},
                   {"bytes", report.message_bytes[i]},
                   {"count", cost.count},
                   {"median_us", rounded(cost.us)},
                   {"waiting_us", rounded(cost.waiting_us)}});
  }
  return all;
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

void print(const CgReport& report) {
  const std::string& peer = report.peer.name;
  const bool with_mpi = report.results.size() > 1 && peer == "MPI";
  const cg::Problem& problem = report.problem;
  const cg::Result& own = report.results.front();
  fmt::print("CG class {}: {} rows, {} elements, {} rank{}{}, {}\n", problem.name, problem.n, report.nonzeros,
             report.ranks, report.ranks == 1 ? "" : "s", describe_grid(report), describe_order(report.order));
  fmt::print("machine   {}\n", report.model.empty() ? hardware() : "a model of " + report.model);
  if (!report.gpus.empty())
    fmt::print("GPUs      {}\nstarted   by {}\n", report.gpus, describe_start(report));
  if (!report.placement.empty()) fmt::print("ranks     {}\n", report.placement);
  fmt::print("versions  {}\n", versions_in_words(with_mpi ? report.peer.version : ""));
  fmt::print("world     {}\n", report.world);
  fmt::print("zeta      {:.13f} after {} steps of {} iterations, the last with a residual of {:.2e}\n",
             own.last.zeta, problem.steps, cg::inner_iterations, own.last.residual);
  fmt::print("answer    {}\n", cg_answer(own, problem));
  if (report.results.size() > 1) fmt::print("by {:<7}{}\n", peer, cg_answer(report.results[1], problem));
  fmt::print("\n{:<10}{:>14}{:>14}{:>12}\n", "", "iteration us", "seconds", "Mop/s");
  print_row("OpenTCA", own, problem);
  if (report.results.size() > 1) print_row(peer, report.results[1], problem);
  fmt::print(
      "Medians over the {}, of {} time by its iterations, and over {} run{}, each of the slowest rank.\n",
      report.gpus.empty() ? "steps" : "runs", report.gpus.empty() ? "a step's" : "a run's",
      own.seconds.size(), own.seconds.size() == 1 ? "" : "s");
  if (report.results.size() > 1)
    fmt::print("\niterating       {}\n",
               compared(peer, median(own.samples_us), median(report.results[1].samples_us), ratio(report)));
  print_messages("OpenTCA", report, own);
  if (report.results.size() > 1) print_messages(peer, report, report.results[1]);
  if (report.processors > 0 && report.ranks > report.processors)
    fmt::print("\n{} ranks share {} processor{} and mostly wait for their turn; --ranks {} says more.\n",
               report.ranks, report.processors, report.processors == 1 ? "" : "s", report.processors);
}

void append_json(const CgReport& report, const std::string& path) {
  for (std::size_t which = 0; which < report.results.size(); ++which) {
    const cg::Result& result = report.results[which];
    const cg::Verification found = verification(result, report.problem);
    const bool peer = which == 1, mpi = peer && report.peer.name == "MPI", nccl = peer && !mpi;
    Record record{.bench = "npb_cg",
                  .fabric = mpi    ? "mpi"
                            : nccl ? "nccl"
                                   : report.fabric,
                  .protocol = mpi    ? "persistent"
                              : nccl ? "collectives"
                                     : protocols_in(report.explain),
                  .start = nccl ? "graph" : report.start,
                  .peer = mpi    ? std::optional("mpi"s)
                          : nccl ? std::optional("nccl"s)
                                 : std::nullopt,
                  .layout = "grid " + report.grid,
                  .ranks = report.ranks,
                  .n = report.problem.n,
                  .bytes = report.bytes,
                  .samples_us = result.samples_us,
                  .mpi_version = mpi ? report.peer.version : "",
                  .gpus = report.gpus,
                  .model = report.model};
    record.libraries = report.libraries;
    if (nccl) record.libraries["nccl"] = report.peer.version;
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
                    {"messages", messages_of(report, result)}};
    if (!report.placement.empty()) record.extra["placement"] = report.placement;
    if (peer) add_ratio("ratio", ratio(report), record);
    append_line(path, record.line());
  }
}

}  // namespace tca::tool
