#include "spin/cli/report.hpp"

#include <fmt/format.h>

#include <optional>

#include "cli/output/compared.hpp"
#include "cli/output/record.hpp"
#include "shared/cli/sweep.hpp"
#include "spin/cli/physics.hpp"

namespace tca::tool {
namespace {

double picoseconds(const SpinReport& report, const spin::Result& result) {
  const double updates = static_cast<double>(report.problem.sites()) * report.problem.replicas;
  return median(result.samples_us) * 1e6 / updates;
}

bool is_compared(const SpinReport& report) { return report.run.results.size() > 1; }

std::optional<bench::Spread> ratio(const SpinReport& report) {
  return bench::ratio_by_round(report.run.results[1].samples_us, report.run.results[0].samples_us);
}

// Where the host does not see what a GPU does, it does not know these two apart.
bool knows_phases(const spin::Result& result) { return result.compute_us > 0; }

void print_row(const std::string& name, const SpinReport& report, const spin::Result& result) {
  fmt::print("{:<10}{:>14.1f}", name, median(result.samples_us));
  if (knows_phases(result)) fmt::print("{:>14.1f}{:>14.1f}", result.compute_us, result.exchange_us);
  fmt::print("{:>18.{}f}\n", picoseconds(report, result), report.gpus.empty() ? 0 : 1);
}

std::string describe_start(const SpinReport& report) {
  const std::string start = report.start == "kernel"  ? "one kernel, which runs all sweeps of a kind"
                            : report.start == "graph" ? "a CUDA graph a sweep"
                                                      : "the host, kernel by kernel";
  return report.start_was_chosen ? start + " (chosen)" : start;
}

MessageTable table_of(const std::string& who, const spin::Result& result) {
  return {.who = who, .step = "a sweep", .step_us = median(result.samples_us), .costs = result.messages};
}

}  // namespace

void print(const SpinReport& report, const AppJob& job) {
  const spin::Problem& problem = report.problem;
  const spin::Result& own = report.run.results.front();
  fmt::print("Spin glass {}: {} spins{}, {} couplings, {}, {} precision, {} rank{}, grid {}\n",
             spin::describe(problem.extents), problem.sites(),
             problem.replicas > 1 ? fmt::format(" in each of {} replicas", problem.replicas) : "",
             problem.couplings == spin::Couplings::rings ? "ring" : "Gaussian",
             describe_temperatures(problem), report.in_double ? "double" : "single", report.job.ranks,
             report.job.ranks == 1 ? "" : "s", report.grid);
  if (!report.gpus.empty())
    fmt::print("GPUs      {}\nstarted   by {}\n", report.gpus, describe_start(report));
  print_job(report.job, is_compared(report) ? report.peer.version : "");
  fmt::print("rounds    {} of {} sweep{} by heat bath and {} by over-relaxation\n", report.plan.rounds,
             report.plan.heat_baths, report.plan.heat_baths == 1 ? "" : "s", report.plan.over_relaxations);
  print_physics(report);
  const std::string fault = report.fault();
  fmt::print("answer    {}\n\n",
             fault.empty()
                 ? fmt::format("right: over-relaxation keeps the energy of a site up to {:.1e}, spins their "
                               "length up to {:.1e}",
                               report.run.physics.drift, report.run.physics.off_unit / 2)
                 : "WRONG: " + fault);
  fmt::print("{:<10}{:>14}", "", "sweep us");
  if (knows_phases(own)) fmt::print("{:>14}{:>14}", "computing us", "exchange us");
  fmt::print("{:>18}\n", "ps a spin update");
  print_row("OpenTCA", report, own);
  if (is_compared(report)) print_row(report.peer.name, report, report.run.results[1]);
  fmt::print("Medians over the rounds of the mean sweep, each of the slowest rank.\n");
  if (is_compared(report))
    fmt::print("\nsweeping        {}\n", compared(report.peer.name, median(own.samples_us),
                                                  median(report.run.results[1].samples_us), ratio(report)));
  print_messages(table_of("OpenTCA", own), report.explained, job);
  if (report.start == "kernel" && !own.messages.empty()) fmt::print("{}", said_of_messages_by_host);
  if (is_compared(report)) print_messages(table_of(report.peer.name, report.run.results[1]));
  print_crowding(report.job);
}

namespace {

Record record_of(const SpinReport& report, const spin::Result& result) {
  const spin::Physics& physics = report.run.physics;
  Record record{.bench = "heisenberg_spin_glass",
                .fabric = report.job.fabric,
                .protocol = protocols_in(report.explained.front().text),
                .start = report.start,
                .layout = "halo " + report.grid,
                .ranks = report.job.ranks,
                .n = report.problem.extents[0],
                .bytes = result.bytes_total,
                .samples_us = result.samples_us,
                .gpus = report.gpus,
                .model = report.job.model,
                .libraries = report.libraries};
  record.extra = {{"extents", report.problem.extents},
                  {"replicas", report.problem.replicas},
                  {"precision", report.in_double ? "double" : "single"},
                  {"rounds", report.plan.rounds},
                  {"couplings", report.problem.couplings == spin::Couplings::rings ? "rings" : "gaussian"},
                  {"heat_baths", report.plan.heat_baths},
                  {"over_relaxations", report.plan.over_relaxations},
                  {"overlap", report.overlap},
                  {"ps_an_update", rounded(picoseconds(report, result))},
                  {"compute_us", rounded(result.compute_us)},
                  {"exchange_us", rounded(result.exchange_us)},
                  {"energy", physics.energy.value},
                  {"energy_error", rounded(physics.energy.error)},
                  {"drift", rounded(physics.drift)},
                  {"right", report.fault().empty()},
                  {"bytes_max", result.bytes_max},
                  {"messages", json_of(result.messages)}};
  add_physics(report, record);
  if (!report.job.placement.empty()) record.extra["placement"] = report.job.placement;
  return record;
}

}  // namespace

void keep(const SpinReport& report, const AppJob& job) {
  Record own = record_of(report, report.run.results.front());
  own.extra["messages"] = json_of(report.run.results.front().messages, report.explained);
  std::vector<std::string> lines{own.line()};
  if (is_compared(report)) {
    Record peer = record_of(report, report.run.results[1]);
    set_peer(peer, report.peer);
    if (!report.gpus.empty()) peer.start = "graph";
    add_ratio("ratio", ratio(report), peer);
    lines.push_back(peer.line());
  }
  keep_lines(job, lines);
}

}  // namespace tca::tool
