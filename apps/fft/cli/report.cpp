#include "fft/cli/report.hpp"

#include <fmt/format.h>

#include <cmath>
#include <optional>

#include "cli/output/compared.hpp"
#include "cli/output/record.hpp"

namespace tca::tool {
namespace {

double tolerance(const FftReport& report) {
  if (report.problem) return fft::npb::tolerance;
  return report.in_double ? fft::tolerance<double> : fft::tolerance<float>;
}

// How far off a way's numbers are, at worst.
double error(const FftReport& report, const FftWay& way) {
  if (!report.problem) return way.result.errors.largest();
  double largest = 0;
  for (const fft::npb::Run& run : way.runs)
    if (const double one = run.error(*report.problem); !(one <= largest)) largest = one;
  return largest;
}

// A transform's times, or those of the benchmark's steps.
std::vector<double> samples(const FftReport& report, const FftWay& way) {
  if (!report.problem) return way.result.samples_us;
  std::vector<double> all;
  for (const fft::npb::Run& run : way.runs) all.insert(all.end(), run.step_us.begin(), run.step_us.end());
  return all;
}

double gflops(const FftReport& report, const FftWay& way) {
  if (!report.problem) return fft::flops(report.field) / median(samples(report, way)) * 1e-3;
  std::vector<double> seconds;
  for (const fft::npb::Run& run : way.runs) seconds.push_back(run.seconds);
  return report.problem->flops() / median(seconds) * 1e-9;
}

std::optional<bench::Spread> ratio(const FftReport& report, const FftWay& peer) {
  return bench::ratio_by_round(samples(report, peer), samples(report, report.ways.front()));
}

std::string describe_grid(const FftReport& report) {
  if (report.job.ranks == 1) return "";
  const bool in_slabs = report.grid.ends_with("x1") || report.grid.starts_with("1x");
  return in_slabs ? ", in slabs" : fmt::format(", in pencils on a grid of {}", report.grid);
}

std::string describe_what(const FftReport& report) {
  const std::string extents = fft::describe(report.field.extents);
  if (report.problem)
    return fmt::format("FT class {}: {} complex numbers, {} steps", report.problem->name, extents,
                       report.problem->steps());
  return fmt::format("Transform of {} {} numbers", extents, report.field.real ? "real" : "complex");
}

std::string describe_answer(const FftReport& report) {
  const std::string fault = report.fault();
  const FftWay& own = report.ways.front();
  if (!fault.empty()) return "WRONG: " + fault;
  if (report.problem)
    return fmt::format(
        "right: the sums of all steps are the published ones up to {:.1e} of them ({:.0e} is allowed)",
        error(report, own), tolerance(report));
  const fft::Errors& errors = own.result.errors;
  return fmt::format(
      "right: numbers are what their definition says up to {:.1e}, their energy up to {:.1e}, and back "
      "again up to {:.1e}",
      errors.numbers, errors.energy, errors.round_trip);
}

void print_row(const FftReport& report, const FftWay& way) {
  const double us = median(samples(report, way)), exchange_us = way.result.exchange_us;
  fmt::print("{:<14}{:>14.1f}", way.name, us);
  if (exchange_us > 0) {
    fmt::print("{:>14.1f}{:>14.1f}", us - exchange_us, exchange_us);
  } else {
    fmt::print("{:>14}{:>14}", "-", "-");
  }
  fmt::print("{:>10.2f}\n", gflops(report, way));
}

}  // namespace

std::string FftReport::fault() const {
  for (const FftWay& way : ways) {
    const double off = error(*this, way);
    if (off <= tolerance(*this)) continue;
    const std::string by = way.library.empty() ? "" : " by " + way.name;
    if (problem)
      return fmt::format("a sum{} differs from the published one by {:.1e} of it, more than {:.0e}", by, off,
                         tolerance(*this));
    const fft::Errors& errors = way.result.errors;
    return fmt::format(
        "numbers{} are off by {:.1e}, their energy by {:.1e}, and back again by {:.1e}, where {:.0e} is "
        "allowed",
        by, errors.numbers, errors.energy, errors.round_trip, tolerance(*this));
  }
  return "";
}

void print(const FftReport& report, const AppJob& job) {
  fmt::print("{}, {} precision, {} rank{}{}, {} batch{}\n", describe_what(report),
             report.in_double ? "double" : "single", report.job.ranks, report.job.ranks == 1 ? "" : "s",
             describe_grid(report), report.batches, report.batches == 1 ? "" : "es");
  if (!report.gpus.empty())
    fmt::print("GPUs      {}\nstarted   by {}\n", report.gpus,
               report.start == "graph" ? "a CUDA graph a transform" : "the host, kernel by kernel");
  print_job(report.job, report.mpi_version);
  fmt::print("answer    {}\n\n", describe_answer(report));
  fmt::print("{:<14}{:>14}{:>14}{:>14}{:>10}\n", "", report.problem ? "step us" : "transform us",
             "computing us", "exchange us", "Gflop/s");
  for (const FftWay& way : report.ways) print_row(report, way);
  const FftWay& own = report.ways.front();
  const std::size_t count = samples(report, own).size();
  if (report.problem) {
    fmt::print("The median of {} steps, and the median rate of {} run{}, each of the slowest rank.\n", count,
               own.runs.size(), own.runs.size() == 1 ? "" : "s");
  } else {
    fmt::print(
        "Medians over {} sample{} of {} transforms forward and as many backward, each of the slowest rank.\n",
        count, count == 1 ? "" : "s", fft::pairs_of(report.field, report.in_double));
  }
  for (const FftWay& way : report.ways)
    if (!way.library.empty())
      fmt::print("\ntransforming    {}\n", compared(way.name, median(samples(report, own)),
                                                    median(samples(report, way)), ratio(report, way)));
  if (job.explain) fmt::print("\n{}", report.explained);
  print_crowding(report.job);
}

namespace {

Record record_of(const FftReport& report, const FftWay& way) {
  Record record{.bench = "fft",
                .fabric = report.job.fabric,
                .protocol = way.protocol,
                .start = report.start,
                .layout = "grid " + report.grid,
                .ranks = report.job.ranks,
                .n = report.field.extents[0],
                .bytes = report.bytes,
                .samples_us = samples(report, way),
                .gpus = report.gpus,
                .model = report.job.model,
                .libraries = report.libraries};
  record.extra = {{"extents", report.field.extents},
                  {"class", nullptr},
                  {"real", report.field.real},
                  {"precision", report.in_double ? "double" : "single"},
                  {"batches", report.batches},
                  {"gflops", rounded(gflops(report, way))},
                  {"exchange_us", nullptr},
                  {"error", rounded(error(report, way))},
                  {"verified", error(report, way) <= tolerance(report)}};
  if (report.problem) record.extra["class"] = report.problem->name;
  if (way.result.exchange_us > 0) record.extra["exchange_us"] = rounded(way.result.exchange_us);
  if (!report.job.placement.empty()) record.extra["placement"] = report.job.placement;
  return record;
}

}  // namespace

void keep(const FftReport& report, const AppJob& job) {
  std::vector<std::string> lines;
  for (const FftWay& way : report.ways) {
    Record record = record_of(report, way);
    if (!way.library.empty()) {
      set_peer(record, {way.library, way.library == "MPI" ? report.mpi_version : report.nccl_version});
      record.protocol = way.protocol;
      add_ratio("ratio", ratio(report, way), record);
    }
    lines.push_back(record.line());
  }
  if (job.json.empty()) return;
  for (const std::string& line : lines) append_line(job.json, line);
}

}  // namespace tca::tool
