#include "pic/cli/report.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <optional>

#include "cli/output/compared.hpp"
#include "cli/output/record.hpp"
#include "shared/cli/sweep.hpp"

namespace tca::tool {
namespace {

// A step adds some tens of numbers for each electron of a cell to a node, each rounded to 2^-52 of the plasma's charge or,
// in doubles, less: a random walk, which was seen to be off by 7e-14 after 2048 steps with 4 electrons in a cell.
double gauss_tolerance(const PicReport& report) {
  constexpr double least = 1e-12, of_one = 3e-15;
  const auto in_a_cell = std::pow(report.deck.per_side, report.deck.dims());
  return std::max(least, of_one * std::sqrt(in_a_cell * static_cast<double>(report.deck.steps)));
}
// Of a closed box. Interpolation heats electrons that are colder than a cell is long.
constexpr double energy_tolerance = 0.05;

double nanoseconds(const PicReport& report, double us) {
  const auto particles = static_cast<double>(report.run.history.back().particles);
  return particles > 0 ? us * 1e3 / particles : 0;
}

bool has_peer(const PicReport& report) { return report.run.results.size() > 1; }

std::optional<bench::Spread> ratio_of(const PicReport& report) {
  return bench::ratio_by_round(report.run.results[1].samples_us, report.run.results[0].samples_us);
}

void print_line(const std::string& name, const PicReport& report, const pic::Result& result) {
  const double step_us = median(result.samples_us);
  fmt::print("{:<10}{:>12.1f}{:>14.1f}{:>12.1f}{:>14.1f}{:>20.2f}\n", name, step_us, result.push_us,
             result.fields_us, result.exchange_us, nanoseconds(report, step_us));
}

MessageTable messages_of(const std::string& who, const pic::Result& result) {
  return {.who = who, .step = "a step", .step_us = median(result.samples_us), .costs = result.messages};
}

void print_findings(const PicReport& report) {
  const pic::Sample& last = report.run.history.back();
  if (!report.wave.what.empty())
    fmt::print("wave      {} {:.6f}; {:.6f} is known, {:+.2g} off\n", report.wave.what, report.wave.found,
               report.wave.known, report.wave.found / report.wave.known - 1);
  if (!report.deck.walls) fmt::print("energy    kept up to {:.1e}\n", pic::energy_drift(report.run.history));
  if (last.absorbed > 0) fmt::print("walls     absorbed {} electrons\n", last.absorbed);
  if (report.run.most_rounds > 1)
    fmt::print("rounds    up to {} for the particles of a step\n", report.run.most_rounds);
  if (!report.is_fast) fmt::print("digest    {:016x}, on any number of ranks\n", report.run.digest);
}

Record record_of(const PicReport& report, const pic::Result& result) {
  Record record{.bench = "pic",
                .fabric = report.job.fabric,
                .protocol = protocols_in(joined(report.explained)),
                .start = report.start,
                .layout = "halo " + report.grid,
                .ranks = report.job.ranks,
                .n = report.deck.extents.back(),
                .bytes = result.bytes_total,
                .samples_us = result.samples_us,
                .gpus = report.gpus,
                .model = report.job.model,
                .libraries = report.libraries};
  const double step_us = median(result.samples_us);
  record.extra = {{"deck", report.deck.name},
                  {"extents", report.deck.extents},
                  {"particles", report.run.history.back().particles},
                  {"steps", report.deck.steps},
                  {"sums", report.is_fast ? "floating" : "exact"},
                  {"ns_a_particle", rounded(nanoseconds(report, step_us))},
                  {"push_us", rounded(result.push_us)},
                  {"fields_us", rounded(result.fields_us)},
                  {"exchange_us", rounded(result.exchange_us)},
                  {"off_gauss", rounded(report.off_gauss())},
                  {"right", report.fault().empty()},
                  {"most_rounds", report.run.most_rounds},
                  {"bytes_max", result.bytes_max},
                  {"messages", json_of(result.messages)}};
  if (!report.deck.walls) record.extra["energy_drift"] = rounded(pic::energy_drift(report.run.history));
  if (!report.is_fast) record.extra["digest"] = fmt::format("{:016x}", report.run.digest);
  if (!report.wave.what.empty()) {
    record.extra["wave"] = report.wave.what;
    record.extra["found"] = report.wave.found;
    record.extra["known"] = report.wave.known;
  }
  if (!report.job.placement.empty()) record.extra["placement"] = report.job.placement;
  return record;
}

}  // namespace

double PicReport::off_gauss() const {
  double most = 0;
  // Not std::max, which would lose what is no number.
  for (const pic::Sample& sample : run.history)
    if (!(sample.off_gauss <= most)) most = sample.off_gauss;
  return most;
}

std::string PicReport::fault() const {
  const pic::Sample &first = run.history.front(), &last = run.history.back();
  if (!(off_gauss() <= gauss_tolerance(*this)))
    return fmt::format(
        "the divergence of E is not the charge density: it is off by {:.1e} of the plasma's, more than "
        "{:.0e}",
        off_gauss(), gauss_tolerance(*this));
  if (last.particles + last.absorbed != first.particles)
    return fmt::format("{} electrons have become {}, and walls have absorbed {}", first.particles,
                       last.particles, last.absorbed);
  if (!wave.is_right())
    return fmt::format("the {} is {:.6f}, where {:.6f} is known", wave.what, wave.found, wave.known);
  const double drift = pic::energy_drift(run.history);
  if (!deck.walls && !(drift <= energy_tolerance))
    return fmt::format("the energy has changed by {:.1e}, more than {:.0e}", drift, energy_tolerance);
  return "";
}

void print(const PicReport& report, const AppJob& job) {
  const pic::Deck& deck = report.deck;
  const pic::Result& own = report.run.results.front();
  fmt::print("Plasma {} {}: {} electrons, {} steps of {:.4g}, {} sums, {} rank{}, grid {}\n", deck.name,
             pic::describe(deck.extents), report.run.history.front().particles, deck.steps, deck.dt(),
             report.is_fast ? "floating" : "exact", report.job.ranks, report.job.ranks == 1 ? "" : "s",
             report.grid);
  if (!report.gpus.empty()) fmt::print("GPUs      {}\n", report.gpus);
  print_job(report.job, has_peer(report) ? report.peer.version : "");
  print_findings(report);
  const std::string fault = report.fault();
  fmt::print(
      "answer    {}\n\n",
      fault.empty()
          ? fmt::format("right: the divergence of E is the charge density up to {:.1e} of the plasma's{}",
                        report.off_gauss(), report.run.every_step_checked ? ", after every step" : "")
          : "WRONG: " + fault);
  fmt::print("{:<10}{:>12}{:>14}{:>12}{:>14}{:>20}\n", "", "step us", "particles us", "fields us",
             "exchange us", "ns an electron");
  print_line("OpenTCA", report, own);
  if (has_peer(report)) print_line(report.peer.name, report, report.run.results[1]);
  fmt::print("Medians over the steps, each of the slowest rank.{}\n",
             report.gpus.empty() ? "" : " A step on GPUs is timed as a whole.");
  if (has_peer(report))
    fmt::print("\nstepping        {}\n",
               compared(report.peer.name, median(own.samples_us), median(report.run.results[1].samples_us),
                        ratio_of(report)));
  print_messages(messages_of("OpenTCA", own), report.explained, job);
  if (has_peer(report)) print_messages(messages_of(report.peer.name, report.run.results[1]));
  print_crowding(report.job);
}

void keep(const PicReport& report, const AppJob& job) {
  Record own = record_of(report, report.run.results.front());
  own.extra["messages"] = json_of(report.run.results.front().messages, report.explained);
  std::vector<std::string> lines{own.line()};
  if (has_peer(report)) {
    Record peer = record_of(report, report.run.results[1]);
    set_peer(peer, report.peer);
    add_ratio("ratio", ratio_of(report), peer);
    lines.push_back(peer.line());
  }
  keep_lines(job, lines);
}

}  // namespace tca::tool
