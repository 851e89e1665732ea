// The report of `tca himeno`.
#include "himeno/cli/report.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <cmath>

#include "cli/output/compared.hpp"
#include "cli/output/record.hpp"

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

std::string peer_version(const HimenoReport& report) {
  if (report.results.size() < 2) return "";
  return report.peer.name == "MPI" ? report.peer.version : report.peer.name + " " + report.peer.version;
}

std::string in_bytes(std::int64_t bytes) {
  const auto value = static_cast<double>(bytes);
  if (bytes < 10'000) return fmt::format("{} B", bytes);
  return bytes < 10'000'000 ? fmt::format("{:.1f} KiB", value / 1024)
                            : fmt::format("{:.1f} MiB", value / 1048576);
}

std::string answer(const HimenoReport& report) {
  if (!report.check) return "not checked";
  const himeno::Check& check = *report.check;
  const std::string when = report.checked_iterations == report.iterations
                               ? ""
                               : fmt::format(" after {} iterations", report.checked_iterations);
  if (check.agrees())
    return fmt::format("right: every cell is the serial program's to the bit{}, residual {:.6e}", when,
                       check.residual);
  const std::string cells =
      check.different_ranks.empty()
          ? "the cells are the same"
          : fmt::format("cells differ on rank {}", fmt::join(check.different_ranks, ", "));
  return fmt::format(
      "WRONG{}: the residual is not the serial program's, {:.6e}, but differs by {:.1e} of it; {}", when,
      check.residual, check.residual_difference, cells);
}

template <class Get>
std::optional<bench::Spread> ratio_by_turn(const HimenoReport& report, Get get) {
  std::vector<double> own, peer;
  for (const himeno::Turn& turn : report.results[0].turns) own.push_back(get(turn));
  for (const himeno::Turn& turn : report.results[1].turns) peer.push_back(get(turn));
  return bench::ratio_by_round(peer, own);
}

std::optional<bench::Spread> communication_ratio(const HimenoReport& report) {
  return ratio_by_turn(report, [](const himeno::Turn& turn) { return turn.communication_us; });
}

std::optional<bench::Spread> iteration_ratio(const HimenoReport& report) {
  return ratio_by_turn(report, [](const himeno::Turn& turn) { return turn.iteration_us; });
}

bool on_device(const Result& result) { return result.median.phases.device_us > 0; }

void print_row(const std::string& name, const Result& result) {
  fmt::print("{:<10}{:>14.1f}", name, result.median.total_us);
  if (!on_device(result))
    fmt::print("{:>14.1f}{:>18.2f}", result.median.phases.compute_us, result.communication_us);
  fmt::print("{:>12.0f}\n", result.mflops);
}

void print_comparison(const HimenoReport& report) {
  const Result &own = report.results[0], &peer = report.results[1];
  const std::string& name = report.peer.name;
  fmt::print("\n");
  if (!on_device(own) && report.job.ranks > 1)
    fmt::print("communicating   {}\n",
               compared(name, own.communication_us, peer.communication_us, communication_ratio(report)));
  fmt::print("iterating       {}\n",
             compared(name, own.median.total_us, peer.median.total_us, iteration_ratio(report)));
  for (const HimenoAlone& alone : report.alone)
    fmt::print("{:<16}{}\n", alone.what,
               compared(name, base::median(alone.own_us), base::median(alone.peer_us),
                        bench::ratio_by_round(alone.peer_us, alone.own_us)));
}

void print_table(const HimenoReport& report) {
  const Result& own = report.results.front();
  fmt::print("{:<10}{:>14}", "", "iteration us");
  if (!on_device(own)) fmt::print("{:>14}{:>18}", "computing us", "communicating us");
  fmt::print("{:>12}\n", "MFLOPS");
  print_row("OpenTCA", own);
  if (report.results.size() > 1) print_row(report.peer.name, report.results[1]);
  if (on_device(own)) {
    fmt::print("Medians of averages over many iterations, each of the slowest rank.\n");
  } else {
    fmt::print(
        "Medians over the iterations, each of the slowest rank. Communicating is what an iteration takes "
        "beyond\n"
        "its computing: exchange and reduction together.\n");
  }
  if (report.results.size() > 1) print_comparison(report);
}

// Adds the phases of an iteration. On a GPU the host does not see them.
void add_phases(const Result& result, Record& record) {
  record.extra["compute_us"] = rounded(result.median.phases.compute_us);
  record.extra["communication_us"] = rounded(result.communication_us);
  record.extra["start_us"] = rounded(result.median.phases.start_us);
  record.extra["wait_us"] = rounded(result.median.phases.wait_us);
  record.extra["reduce_us"] = rounded(result.median.phases.reduce_us);
}

}  // namespace

void print(const HimenoReport& report, const AppJob& job) {
  double seconds = 0;
  for (const Result& result : report.results) seconds += result.seconds;
  const Result& own = report.results.front();
  const std::string cells = himeno::describe(report.extents);
  fmt::print("Himeno{}: {} cells, {} rank{}, grid {}, {}, {}\n",
             report.size == cells ? "" : " " + report.size, cells, report.job.ranks,
             report.job.ranks == 1 ? "" : "s", report.grid, report.overlap ? "overlapped" : "not overlapped",
             report.guarded ? "guarded" : "unguarded");
  if (!report.gpus.empty()) fmt::print("started   by {}\n", describe_start(report));
  print_job(report.job, peer_version(report));
  fmt::print("channels  {}\n", describe_channels(report.explained.front().text));
  fmt::print("moved     {} an iteration, at most {} by one rank\n", in_bytes(own.bytes_total),
             in_bytes(own.bytes_max));
  fmt::print("residual  {:.6e} after {} iterations ({:.2f} s)\n", report.residual, report.iterations,
             seconds);
  fmt::print("answer    {}\n\n", answer(report));
  print_table(report);
  const MessageTable table{
      .who = "OpenTCA", .step = "an iteration", .step_us = own.median.total_us, .costs = report.messages};
  print_messages(table, report.explained, job);
  print_crowding(report.job);
}

void append_json(const HimenoReport& report, const std::string& path) {
  for (std::size_t which = 0; which < report.results.size(); ++which) {
    const Result& result = report.results[which];
    const bool mpi = which == 1 && report.peer.name == "MPI", nccl = which == 1 && !mpi;
    Record record{.bench = "himeno",
                  .fabric = mpi    ? "mpi"
                            : nccl ? "nccl"
                                   : report.job.fabric,
                  .protocol = mpi    ? "persistent"
                              : nccl ? "packed"
                                     : protocols_in(report.explained.front().text),
                  .start = nccl ? "graph" : report.start,
                  .peer = mpi    ? std::optional<std::string>("mpi")
                          : nccl ? std::optional<std::string>("nccl")
                                 : std::nullopt,
                  .layout = "halo " + report.grid,
                  .ranks = report.job.ranks,
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
    if (!on_device(result)) add_phases(result, record);
    if (!report.job.placement.empty()) record.extra["placement"] = report.job.placement;
    if (which == 1) {
      add_ratio("ratio", iteration_ratio(report), record);
      if (!on_device(result)) add_ratio("communication_ratio", communication_ratio(report), record);
    }
    record.gpus = report.gpus;
    record.model = report.job.model;
    record.libraries = report.libraries;
    if (nccl) record.libraries["nccl"] = report.peer.version;
    if (which == 0 && !report.messages.empty())
      record.extra["messages"] = json_of(report.messages, report.explained);
    if (report.check) {
      record.extra["serial_residual"] = report.check->residual;
      record.extra["agrees"] = report.check->agrees();
      record.extra["checked_iterations"] = report.checked_iterations;
      record.extra["fingerprint"] = fmt::format("{:016x}", report.check->fingerprint);
    }
    append_line(path, record.line());
  }
}

}  // namespace tca::tool
