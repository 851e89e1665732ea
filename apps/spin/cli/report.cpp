#include "spin/cli/report.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <optional>

#include "cli/output/compared.hpp"
#include "cli/output/record.hpp"
#include "shared/cli/sweep.hpp"

namespace tca::tool {
namespace {

// How far over-relaxation may change the energy of a site, and the length of a spin: a sweep rounds some ten times, and
// a round has tens of sweeps.
double tolerance(const SpinReport& report) { return report.in_double ? 1e-12 : 1e-4; }

// A mean is held against what is known only where it has an error, and beyond what chance explains.
constexpr double errors_allowed = 6;

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

std::string describe_temperatures(const spin::Problem& problem) {
  const std::vector<double>& all = problem.temperatures;
  return all.empty() ? fmt::format("beta {:g}", problem.beta)
                     : fmt::format("temperatures {:g} to {:g}", all.front(), all.back());
}

void print_temperatures(const SpinReport& report) {
  const bool is_exact = report.problem.couplings == spin::Couplings::rings;
  fmt::print("{:<10}{:>14}{:>18}{:>12}{}\n", "", "temperature", "energy a site", "+-",
             is_exact ? fmt::format("{:>12}", "exact") : "");
  const std::vector<spin::AtTemperature>& all = report.run.physics.temperatures;
  for (std::size_t i = 0; i < all.size(); ++i) {
    fmt::print("{:<10}{:>14g}{:>18.5f}{:>12.5f}", "", all[i].temperature, all[i].energy.value,
               all[i].energy.error);
    if (is_exact) fmt::print("{:>12.5f}", spin::energy_of_rings(1 / all[i].temperature));
    if (i + 1 < all.size())
      fmt::print("   changes place with the next in {:.0f} % of tries", 100 * all[i].acceptance);
    fmt::print("\n");
  }
}

void print_physics(const SpinReport& report) {
  const spin::Physics& physics = report.run.physics;
  if (!physics.temperatures.empty()) return print_temperatures(report);
  fmt::print("energy    {:.5f}{} a site", physics.energy.value,
             physics.energy.error > 0 ? fmt::format(" +- {:.5f}", physics.energy.error) : "");
  if (report.problem.couplings == spin::Couplings::rings)
    fmt::print("; {:.5f} is exact", spin::energy_of_rings(report.problem.beta));
  else if (report.problem.replicas > 1)
    fmt::print("; by the replicas' overlaps {:.5f}, which it nears as they reach equilibrium",
               physics.energy_by_overlaps(report.problem.beta));
  fmt::print("\n");
}

// Rings of a temperature have an energy that is known.
std::string fault_of_ring(double beta, const spin::Mean& energy) {
  const double exact = spin::energy_of_rings(beta);
  if (energy.error == 0 || std::abs(energy.value - exact) <= errors_allowed * energy.error) return "";
  return fmt::format("the energy of a site is {:.5f} +- {:.5f}, where {:.5f} is exact", energy.value,
                     energy.error, exact);
}

// It is warmer where there is more energy, whichever replicas have been there.
std::string fault_of_temperatures(const SpinReport& report) {
  const std::vector<spin::AtTemperature>& all = report.run.physics.temperatures;
  for (std::size_t i = 0; i < all.size(); ++i) {
    const auto& [temperature, energy, energies, acceptance] = all[i];
    if (report.problem.couplings == spin::Couplings::rings)
      if (const std::string fault = fault_of_ring(1 / temperature, energy); !fault.empty())
        return fmt::format("at temperature {:g} {}", temperature, fault);
    if (i + 1 == all.size()) break;
    const spin::Mean& next = all[i + 1].energy;
    if (energy.error > 0 && energy.value - next.value > errors_allowed * std::hypot(energy.error, next.error))
      return fmt::format(
          "the energy of a site is {:.5f} at temperature {:g} and {:.5f} at {:g}, which is warmer",
          energy.value, temperature, next.value, all[i + 1].temperature);
  }
  return "";
}

}  // namespace

std::string SpinReport::fault() const {
  const spin::Physics& physics = run.physics;
  if (!(physics.drift <= tolerance(*this)))
    return fmt::format("over-relaxation has changed the energy of a site by {:.1e}, more than {:.0e}",
                       physics.drift, tolerance(*this));
  if (!(physics.off_unit <= tolerance(*this)))
    return fmt::format("a spin's length is off by {:.1e}, more than {:.0e}", physics.off_unit / 2,
                       tolerance(*this) / 2);
  if (!physics.temperatures.empty()) return fault_of_temperatures(*this);
  return problem.couplings == spin::Couplings::rings ? fault_of_ring(problem.beta, physics.energy) : "";
}

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

// At most some hundred of them, evenly spread; `rounds` says how many there were.
nlohmann::ordered_json thinned(const std::vector<double>& energies) {
  constexpr std::size_t most = 200;
  auto some = nlohmann::ordered_json::array();
  const std::size_t count = std::min(most, energies.size());
  for (std::size_t i = 0; i < count; ++i)
    some.push_back(rounded(energies[energies.size() * (i + 1) / count - 1]));
  return some;
}

nlohmann::ordered_json json_of_temperatures(const SpinReport& report) {
  auto all = nlohmann::ordered_json::array();
  for (const auto& [temperature, energy, energies, acceptance] : report.run.physics.temperatures) {
    all.push_back({{"temperature", temperature},
                   {"energy", energy.value},
                   {"energy_error", rounded(energy.error)},
                   {"acceptance", rounded(acceptance)},
                   {"energies", thinned(energies)}});
    if (report.problem.couplings == spin::Couplings::rings)
      all.back()["exact"] = spin::energy_of_rings(1 / temperature);
  }
  return all;
}

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
  if (physics.temperatures.empty()) {
    record.extra["beta"] = report.problem.beta;
    record.extra["energies"] = thinned(physics.energies);
    if (report.problem.couplings == spin::Couplings::rings)
      record.extra["exact"] = spin::energy_of_rings(report.problem.beta);
    else if (report.problem.replicas > 1)
      record.extra["energy_by_overlaps"] = physics.energy_by_overlaps(report.problem.beta);
  } else {
    record.extra["temperatures"] = json_of_temperatures(report);
  }
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
