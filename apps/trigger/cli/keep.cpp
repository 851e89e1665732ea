#include <fmt/format.h>

#include <algorithm>
#include <cstring>
#include <utility>

#include "base/system/whole_file.hpp"
#include "cli/options/refuse.hpp"
#include "cli/output/record.hpp"
#include "shared/cli/sweep.hpp"
#include "trigger/cli/report.hpp"

namespace tca::tool {
namespace {

using trigger::Summary;
using trigger::Verdict;

// Latencies as many samples as there are per mille, so that the record's median and p99 are those of the histogram.
std::vector<double> samples_of(const trigger::Histogram& latency) {
  std::vector<double> samples;
  for (int per_mille = 1; per_mille < 1000; ++per_mille) samples.push_back(latency.us_at(0.1 * per_mille));
  return samples;
}

// Pairs of a latency in microseconds and the share of events with no more, for drawings.
nlohmann::ordered_json curve_of(const trigger::Histogram& latency) {
  auto curve = nlohmann::ordered_json::array();
  for (double rest = 1; rest > 0.5 / static_cast<double>(std::max<std::uint64_t>(1, latency.total()));
       rest *= 0.84089641525371454)
    curve.push_back({rounded(latency.us_at(100 * (1 - rest))), rest});
  return curve;
}

void add_rings(const Verdict& verdict, Record& record) {
  auto right = nlohmann::ordered_json::array(), events = nlohmann::ordered_json::array();
  for (std::size_t rings = 0; rings <= trigger::most_made_rings; ++rings) {
    events.push_back(verdict.by_rings[rings].all);
    right.push_back(verdict.by_rings[rings].right);
  }
  record.extra["events_by_rings"] = events;
  record.extra["right_by_rings"] = right;
  for (const auto& [name, pulls] : {std::pair{"x", verdict.x}, {"y", verdict.y}, {"r", verdict.r}}) {
    record.extra[fmt::format("pull_{}_mean", name)] = rounded(pulls.mean());
    record.extra[fmt::format("pull_{}_width", name)] = rounded(pulls.width());
  }
}

Record record_of(const TriggerReport& report, const TriggerWay& way) {
  const trigger::Run& run = report.run;
  const Summary& summary = way.summary;
  Record record{.bench = "trigger",
                .fabric = report.job.fabric,
                .protocol = "udp",
                .start = way.start,
                .layout = fmt::format("batches of {}", run.batch),
                .ranks = report.job.ranks,
                .n = static_cast<std::int64_t>(run.events),
                .bytes = static_cast<std::int64_t>(summary.bytes),
                .samples_us = samples_of(summary.latency),
                .gpus = report.gpus,
                .libraries = report.libraries};
  record.extra = {{"rate", run.rate},
                  {"rings", {run.physics.fewest_rings, run.physics.most_rings}},
                  {"noise", run.physics.noise},
                  {"resolution", run.physics.resolution},
                  {"seed", run.physics.seed},
                  {"gather", report.gather.events > 1'000'000 ? 0 : report.gather.events},
                  {"gather_us", report.gather.us},
                  {"slots", report.slots},
                  {"p999_us", rounded(summary.latency.us_at(99.9))},
                  {"max_us", rounded(summary.latency.us_at(100))},
                  {"deadline_us", report.deadline_us},
                  {"seconds", rounded(summary.seconds)},
                  {"answered", summary.answered},
                  {"datagrams", summary.came},
                  {"duplicates", summary.duplicates},
                  {"reordered", summary.reordered},
                  {"foreign", summary.foreign},
                  {"buffer_bytes", summary.buffer_bytes}};
  constexpr std::size_t most = 1000;  // numbers of a list; how many there are is said as well
  for (const auto& [name, numbers] : {std::pair{"dropped", &summary.dropped},
                                      {"lost", &summary.lost},
                                      {"overrun", &summary.overrun},
                                      {"late", &summary.late}}) {
    record.extra[name] = numbers->size();
    record.extra[fmt::format("{}_sequences", name)] = std::vector(
        numbers->begin(), numbers->begin() + static_cast<std::ptrdiff_t>(std::min(most, numbers->size())));
  }
  add_rings(summary.verdict, record);
  record.extra["latencies"] = curve_of(summary.latency);
  record.extra["right"] = report.fault().empty();
  if (!report.job.placement.empty()) record.extra["placement"] = report.job.placement;
  return record;
}

}  // namespace

void keep(const TriggerReport& report, const AppJob& job) {
  std::vector<std::string> lines;
  for (const TriggerWay& way : report.ways) {
    Record record = record_of(report, way);
    if (&way != &report.ways.front()) record.peer = way.name;
    lines.push_back(record.line());
  }
  keep_lines(job, lines);
}

void keep_histogram(const TriggerReport& report, const std::string& path) {
  if (path.empty()) return;
  if (const int error = base::write_whole(path, report.ways.front().summary.latency.percentiles()))
    refuse("--histogram {}: cannot be written: {}", path, std::strerror(error));
}

}  // namespace tca::tool
