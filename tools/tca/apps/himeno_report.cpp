// The report of `tca himeno`.
#include "apps/himeno_report.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <cmath>

#include "output/record.hpp"

namespace tca::tool {
namespace {

using himeno::Result;

std::string describe_channels(const std::string& explain) {
  std::vector<std::string> words;
  for (const auto& [channel, puts] : channels_in(explain)) {
    words.push_back(fmt::format("{} {} put{}", channel, puts, puts == 1 ? "" : "s"));
  }
  return words.empty() ? "none: there is nobody to exchange with"
                       : fmt::format("{} (rank 0)", fmt::join(words, ", "));
}

std::string describe_start(const HimenoReport& report) {
  if (report.start == "host") return "the host, kernel by kernel";
  const bool by_graph = report.start == "graph";
  const char* const how = by_graph ? "a CUDA graph" : "one kernel for all iterations";
  if (!report.start_was_chosen) return how;
  if (report.across) return fmt::format("{}, since no kernel reaches all sub-clusters", how);
  return fmt::format("{}, as suits so {} cells a rank", how, by_graph ? "many" : "few");
}

std::string in_bytes(std::int64_t bytes) {
  const auto value = static_cast<double>(bytes);
  if (bytes < 10'000) return fmt::format("{} B", bytes);
  return bytes < 10'000'000 ? fmt::format("{:.1f} KiB", value / 1024)
                            : fmt::format("{:.1f} MiB", value / 1048576);
}

std::string verdict(const HimenoReport& report) {
  if (!report.check) return "not run";
  const himeno::Check& check = *report.check;
  const std::string when = report.checked_iterations == report.iterations
                               ? ""
                               : fmt::format(" after {} iterations", report.checked_iterations);
  if (check.agrees())
    return fmt::format("{:.6e}{}, they agree; every cell is the same to the bit", check.residual, when);
  const std::string cells =
      check.different_ranks.empty()
          ? "the cells are the same"
          : fmt::format("cells are not the same on rank {}", fmt::join(check.different_ranks, ", "));
  return fmt::format("{:.6e}{}, they DIFFER: the residual by {:.1e} of it, {}", check.residual, when,
                     check.residual_difference, cells);
}

double ratio(double peer, double own) { return own > 0 ? peer / own : 0; }

void print_row(const std::string& name, const Result& result) {
  fmt::print("{:<10}{:>9.0f}{:>16.1f}", name, result.mflops, result.iteration_us);
  if (result.phases.device_us == 0) {
    fmt::print("{:>12.1f}{:>11.2f}{:>11.2f}{:>11.2f}", result.phases.compute_us, result.phases.start_us,
               result.phases.wait_us, result.phases.reduce_us);
  }
  fmt::print("\n");
}

void print_table(const HimenoReport& report) {
  const Result& own = report.results.front();
  const bool on_device = own.phases.device_us > 0;
  fmt::print("{:<10}{:>9}{:>16}", "", "MFLOPS", "iteration (us)");
  if (!on_device) fmt::print("{:>12}{:>11}{:>11}{:>11}", "compute", "start", "wait", "reduce");
  fmt::print("\n");
  print_row("OpenTCA", own);
  if (report.results.size() > 1) {
    const Result& peer = report.results[1];
    const std::string& name = report.peer.name;
    print_row(name, peer);
    fmt::print("{} / OpenTCA: ", name);
    if (!on_device) fmt::print("exchange (start + wait) {:.2f}, ", ratio(peer.exchange_us, own.exchange_us));
    fmt::print("whole iteration {:.2f}\n", ratio(peer.iteration_us, own.iteration_us));
  }
  fmt::print("{}\n", on_device
                         ? "Times are medians of averages over many iterations, on the slowest rank."
                         : "Times are medians over the iterations, each of the rank where it is longest.");
}

// Adds the phases of an iteration. On a GPU the host does not see them.
void add_phases(const Result& result, Record& record) {
  record.extra["compute_us"] = rounded(result.phases.compute_us);
  record.extra["start_us"] = rounded(result.phases.start_us);
  record.extra["wait_us"] = rounded(result.phases.wait_us);
  record.extra["reduce_us"] = rounded(result.phases.reduce_us);
  record.extra["exchange_us"] = rounded(result.exchange_us);
}

}  // namespace

void print(const HimenoReport& report) {
  double seconds = 0;
  for (const Result& result : report.results) seconds += result.seconds;
  const Result& own = report.results.front();
  const std::string cells = himeno::describe(report.extents);
  fmt::print("Himeno{}: {} cells, {} rank{}, grid {}, {}, {}\n",
             report.size == cells ? "" : " " + report.size, cells, report.ranks, report.ranks == 1 ? "" : "s",
             report.grid, report.overlap ? "overlapped" : "not overlapped",
             report.guarded ? "guarded" : "unguarded");
  if (!report.gpus.empty()) fmt::print("started   by {}\n", describe_start(report));
  fmt::print("world     {}\n", report.world);
  fmt::print("channels  {}\n", describe_channels(report.explain));
  fmt::print("moved     {} an iteration, at most {} by one rank\n", in_bytes(own.bytes_total),
             in_bytes(own.bytes_max));
  fmt::print("residual  {:.6e} after {} iterations ({:.2f} s)\n", report.residual, report.iterations,
             seconds);
  fmt::print("serial    {}\n\n", verdict(report));
  print_table(report);
}

void append_json(const HimenoReport& report, const std::string& path) {
  for (std::size_t which = 0; which < report.results.size(); ++which) {
    const Result& result = report.results[which];
    const bool mpi = which == 1 && report.peer.name == "MPI", nccl = which == 1 && !mpi;
    Record record{.bench = "himeno",
                  .fabric = mpi    ? "mpi"
                            : nccl ? "nccl"
                                   : report.fabric,
                  .protocol = mpi    ? "persistent"
                              : nccl ? "packed"
                                     : protocols_in(report.explain),
                  .start = nccl ? "graph" : report.start,
                  .peer = mpi    ? std::optional<std::string>("mpi")
                          : nccl ? std::optional<std::string>("nccl")
                                 : std::nullopt,
                  .layout = "halo " + report.grid,
                  .ranks = report.ranks,
                  .n = report.extents[0],
                  .bytes = result.bytes_total,
                  .samples_us = result.samples_us,
                  .mpi_version = mpi ? report.peer.version : ""};
    record.extra = {{"size", report.size},
                    {"extents", report.extents},
                    {"overlap", report.overlap},
                    {"guarded", report.guarded},
                    {"iterations", result.iterations},
                    {"seconds", rounded(result.seconds)},
                    {"mflops", std::round(result.mflops)},
                    {"residual", report.residual},
                    {"bytes_max", result.bytes_max}};
    if (result.phases.device_us == 0) add_phases(result, record);
    record.gpus = report.gpus;
    record.model = report.model;
    record.libraries = report.libraries;
    if (nccl) record.libraries["nccl"] = report.peer.version;
    if (report.check) {
      record.extra["serial_residual"] = report.check->residual;
      record.extra["agrees"] = report.check->agrees();
      record.extra["checked_iterations"] = report.checked_iterations;
    }
    append_line(path, record.line());
  }
}

}  // namespace tca::tool
