#include "bench/overlap.hpp"

#include <fmt/format.h>

#include <utility>

#include "bench/gpu.hpp"
#include "cli/options/mpi_options.hpp"
#include "cli/options/refuse.hpp"
#include "measure/measure_overlap.hpp"

namespace tca::tool {
namespace {

// A sample is taken anew when another thread has come onto a rank's core, which spoils it. The world's own
// progress thread does so by design, so with it no sample is retried.
bench::Effort effort_of(const BenchOptions& options) {
  bench::Effort effort = options.effort;
  if (!options.progresses_by("thread")) effort.retries = 5;
  return effort;
}

// Default number of points inside the computation: one after each tenth of the exchange's time but the last.
constexpr int own_points = 9;

std::vector<std::string> ways(const BenchOptions& options) {
  return options.progress.empty() ? std::vector<std::string>{"none", "points"} : options.progress;
}

bench::Contenders<bench::Overlap> make_overlaps(World& world, const BenchOptions& options,
                                                std::size_t bytes) {
  bench::Contenders<bench::Overlap> all;
  for (const std::string& progress : ways(options)) {
    const bench::OverlapTask task{bytes, progress};
    all.push_back(bench::chain_overlap(world, task, own_way(options)));
    if (options.against("mpi")) all.push_back(bench::mpi_overlap(world, task));
  }
  return all;
}

void measure_bytes(World& world, const BenchOptions& options, const BenchReport& report, std::size_t bytes) {
  const int points = options.points > 0 ? options.points : own_points;
  const bench::OverlapOutcome outcome = [&] {
    Progress bar = bench_progress(world, options, fmt::format("{} bytes", bytes));
    return bench::measure_overlap(
        world, [&] { return make_overlaps(world, options, bytes); }, points, effort_of(options),
        [&](int rounds) { bar.update(rounds); });
  }();
  if (world.rank() != 0) return;
  for (std::size_t i = 0; i < outcome.contenders.size(); ++i) {
    const bench::Overlap& who = *outcome.contenders[i];
    Record record = report.record(who);
    record.n = record.bytes = static_cast<std::int64_t>(bytes);
    record.extra["progress"] = who.progress;
    if (who.progress == "points") record.extra["points"] = points;
    report_overlap(options, name_of(who), who.progress, outcome.samples[i], std::move(record));
  }
}

}  // namespace

void print_overlap_header(const char* beside) {
  fmt::print("{:<12}{:<40}{:<12}{:>11}{:>12}{:>12}{:>12}{:>10}\n", "bytes", "who", beside, "exchange us",
             "compute us", "both us", "both p99", "hidden %");
}

void report_overlap(const BenchOptions& options, const std::string& who, const std::string& beside,
                    const bench::OverlapSamples& took, Record record) {
  const double exchange = median(took.exchange_us), compute = median(took.compute_us),
               hidden = median(took.hidden());
  fmt::print("{:<12}{:<40}{:<12}{:>11.4g}{:>12.4g}{:>12.4g}{:>12.4g}{:>10.0f}\n", record.bytes, who, beside,
             exchange, compute, median(took.both_us), quantile(took.both_us, 0.99), 100 * hidden);
  show_printed();
  if (options.json.empty()) return;
  record.layout = "block";
  record.samples_us = took.both_us;
  record.extra["exchange_us"] = rounded(exchange);
  record.extra["exchange_p99_us"] = rounded(quantile(took.exchange_us, 0.99));
  record.extra["compute_us"] = rounded(compute);
  record.extra["compute_p99_us"] = rounded(quantile(took.compute_us, 0.99));
  record.extra["hidden"] = rounded(hidden);
  append_line(options.json, record.line());
}

void check_overlap_bench(const BenchOptions& options) {
  if (options.fabric == "cuda+mpi" || options.fabric == "sim")
    refuse("an overlap is measured on shm, mpi, shm+mpi and cuda, not on {}", options.fabric);
  if (options.ranks < 2) refuse("an overlap needs 2 ranks");
  if (options.fabric == "cuda") return check_gpu_bench(options);
  for (const std::string& peer : options.peers) {
    if (peer != "mpi") refuse("--peer {} knows no overlap; mpi does", peer);
  }
  if (options.points > 0 && !options.progress.empty() && !options.progresses_by("points"))
    refuse("--points is for --progress points");
  if (!options.progresses_by("thread")) return;
  if (options.progress.size() > 1)
    refuse("--progress thread is measured in a job of its own, because MPI comes up in another way for it");
  if (!is_over_mpi(options.fabric))
    refuse("--progress thread: {} has none; mpi and shm+mpi have", options.fabric);
  if (options.against("mpi")) refuse("--progress thread: MPI has none to compare with; leave --peer mpi out");
}

void run_overlap_bench(World& world, const BenchOptions& options) {
  const BenchReport report(options, world);
  report.heading();
  if (world.rank() == 0) print_overlap_header("progress");
  static const std::vector<std::size_t> own_sizes{4096, 16384, 65536, 262144, 1048576, 4194304};
  for (const std::size_t bytes : options.sizes.empty() ? own_sizes : options.sizes)
    measure_bytes(world, options, report, bytes);
}

}  // namespace tca::tool
