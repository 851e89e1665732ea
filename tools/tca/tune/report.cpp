#include "tune/report.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <map>
#include <set>
#include <tuple>

#include "boot/over_mpi.hpp"
#include "cli/output/record.hpp"
#include "route/hardware.hpp"
#include "shared/mpi_session.hpp"
#include "tune/grid.hpp"

namespace tca::tool {
namespace {

using route::Distance;

std::string where_of(const ChannelTimes& times, int across) {
  return across == 0 ? "self" : std::string(route::to_string(times.distance));
}

// Returns the kind of a put, such as "stride, spread, runs of 8 bytes".
std::string kind_of(const bench::PutPoint& point) {
  const base::Shape shape = shape_of(point.shape);
  const route::LayoutClass layout = route::classify(shape);
  std::string kind(route::to_string(layout));
  if (layout == route::LayoutClass::block) return kind + (point.puts == 1 ? "" : ", in pairs");
  return kind + fmt::format(", {}, runs of {} bytes", route::to_string(route::spacing(shape)), shape.run);
}

// Returns the time of one put by the table or, when the table has none, by the costs of the world in which it
// was measured.
double table_us(const route::TuningTable& table, const ChannelTimes& times, const bench::PutPoint& point) {
  const base::Shape shape = shape_of(point.shape);
  const auto& [fabric, protocol] = times.channel;
  const route::Cost* cost = route::find_cost(table.pieces(fabric, protocol), fabric, protocol, times.distance,
                                             shape, static_cast<std::size_t>(point.puts));
  return cost != nullptr ? cost->predict_us(shape) : times.predicted_us;
}

// Returns the time of all puts of a step and the signal.
double step_us(const Survey& survey, const route::TuningTable& table, const ChannelTimes& times,
               const bench::PutPoint& point) {
  return point.puts * table_us(table, times, point) + survey.crossing_us(times.distance);
}

std::string size_in_words(std::size_t bytes) {
  if (bytes < 1024) return fmt::format("{} B", bytes);
  return bytes < 1024 * 1024 ? fmt::format("{:.4g} KiB", static_cast<double>(bytes) / 1024)
                             : fmt::format("{:.4g} MiB", static_cast<double>(bytes) / 1048576);
}

// What the table gives for one kind of put: the cheapest channel for each size, with its time.
using Kind = std::map<std::size_t, std::pair<double, std::string>>;

// Names each channel with the size from which it is the cheapest.
std::string in_words(const Kind& kind) {
  std::string text, last;
  for (const auto& [bytes, best] : kind) {
    const std::string& channel = best.second;
    if (channel == last) continue;
    text += text.empty() ? channel : fmt::format(", from {} {}", size_in_words(bytes), channel);
    last = channel;
  }
  return text;
}

}  // namespace

std::vector<Sample> samples_of(const Survey& survey) {
  std::vector<Sample> samples;
  for (const PointTimes& point : survey.points) {
    const base::Shape shape = shape_of(point.point.shape);
    for (const ChannelTimes& times : point.channels) {
      const bench::Samples& cost = times.cost_us;
      const double noise =
          (quantile(cost, 0.75) - quantile(cost, 0.25)) / std::sqrt(static_cast<double>(cost.size()));
      // The signal is shared by the puts of a step, so the sample is the time of a single put with the whole
      // signal.
      const int puts = point.point.puts;
      const double shared = survey.crossing_us(times.distance);
      samples.push_back({times.channel.fabric, times.channel.protocol, times.distance, route::classify(shape),
                         route::spacing(shape), shape.run, shape.runs(),
                         (median(cost) - shared) / puts + shared, noise / puts, puts});
    }
  }
  return samples;
}

route::TuningTable table_of(const Survey& survey) {
  route::TuningTable table;
  table.origin = {route::software(boot::mpi_of(survey.fabrics)), survey.hardware, survey.fabrics,
                  survey.ranks, std::time(nullptr)};
  fit(
      samples_of(survey), [&](Distance distance) { return survey.crossing_us(distance); }, table);
  return table;
}

FitQuality quality_of(const Survey& survey, const route::TuningTable& table) {
  bench::Samples errors;
  for (const PointTimes& point : survey.points) {
    for (const ChannelTimes& times : point.channels) {
      const double us = step_us(survey, table, times, point.point);
      errors.push_back(std::abs(us / median(times.cost_us) - 1));
    }
  }
  return {median(errors), quantile(errors, 0.9)};
}

Gain gain_of(const Survey& survey, const route::TuningTable& table) {
  Gain gain;
  for (const PointTimes& point : survey.points) {
    for (const auto& [distance, old_name] : point.chosen) {
      const ChannelTimes *old_times = nullptr, *best = nullptr;
      for (const ChannelTimes& times : point.channels) {
        if (times.distance != distance) continue;
        if (times.channel.name() == old_name) old_times = &times;
        if (best == nullptr || table_us(table, times, point.point) < table_us(table, *best, point.point))
          best = &times;
      }
      if (old_times == nullptr || best == nullptr) continue;
      ++gain.points;
      if (best == old_times) continue;
      const double times_as_fast = median(old_times->step_us) / median(best->step_us);
      gain.faster.push_back(times_as_fast);
      if (times_as_fast <= gain.most) continue;
      gain.most = times_as_fast;
      gain.most_put = to_string(point.point);
      gain.most_old = old_name;
      gain.most_new = best->channel.name();
    }
  }
  return gain;
}

void print_outcome(const Survey& survey, const route::TuningTable& table) {
  const FitQuality quality = quality_of(survey, table);
  const Gain gain = gain_of(survey, table);
  fmt::print("measured  {} puts; {}\n", survey.points.size(), survey.describe());
  fmt::print("accuracy  within {:.1f} % of half of all medians, within {:.1f} % of nine in ten\n",
             100 * quality.median, 100 * quality.worst_of_ten);
  if (gain.faster.empty())
    fmt::print("gain      none: every put takes the channel that it takes by {}\n", survey.costs);
  else
    fmt::print(
        "gain      {} of {} steps take another channel than by {}, and {:.2f} times as fast in the "
        "median{}\n",
        gain.faster.size(), gain.points, survey.costs, median(gain.faster),
        gain.most_put.empty() ? ""
                              : fmt::format("; most: {} {:.2f} times, by {} instead of {}", gain.most_put,
                                            gain.most, gain.most_new, gain.most_old));
}

void print_trace(const Survey& survey, const route::TuningTable& table) {
  fmt::print("{:<30}{:<6}{:>11}  {}\n", "put (bytes, or runs x bytes / pitch)", "to", "bare us",
             "each channel: median us beyond the bare step (quartiles; the table's)");
  for (const PointTimes& point : survey.points) {
    for (const ChannelTimes& first : point.channels) {
      // Prints a line for each distance at which the ranks were.
      if (&first != &point.channels.front() && first.distance == (&first - 1)->distance) continue;
      fmt::print("{:<30}{:<6}{:>11.3f} ", to_string(point.point), where_of(first, point.point.across),
                 median(point.bare_us));
      for (const ChannelTimes& times : point.channels) {
        if (times.distance != first.distance) continue;
        fmt::print(" {} {:.3f} ({:.3f} {:.3f}; {:.3f})", times.channel.name(), median(times.cost_us),
                   quantile(times.cost_us, 0.25), quantile(times.cost_us, 0.75),
                   step_us(survey, table, times, point.point));
      }
      fmt::print("\n");
    }
  }
}

void print_summary(const Survey& survey, const route::TuningTable& table) {
  std::map<std::tuple<std::string, std::string, std::string>, Kind> kinds;
  for (const PointTimes& point : survey.points) {
    const base::Shape shape = shape_of(point.point.shape);
    for (const ChannelTimes& times : point.channels) {
      // Fabrics serve different ranks, one within a sub-cluster and another beyond it, so each has a kind of
      // its own. To a rank itself both compete.
      const bool is_own = point.point.across == 0;
      Kind& kind = kinds[{where_of(times, point.point.across), is_own ? "" : times.channel.fabric,
                          kind_of(point.point)}];
      const std::pair found(table_us(table, times, point.point), times.channel.name());
      const auto [best, is_new] = kind.try_emplace(shape.bytes(), found);
      if (!is_new && found.first < best->second.first) best->second = found;
    }
  }
  for (const auto& [key, kind] : kinds)
    fmt::print("  {:<5} {:<48} {}\n", std::get<0>(key), std::get<2>(key), in_words(kind));
}

void append_json(const Survey& survey, const route::TuningTable& table, const std::string& path) {
  for (const PointTimes& point : survey.points) {
    const base::Shape shape = shape_of(point.point.shape);
    for (const ChannelTimes& times : point.channels) {
      Record record;
      record.bench = "tune";
      record.fabric = times.channel.fabric;
      record.protocol = times.channel.protocol;
      record.layout = route::to_string(route::classify(shape));
      record.ranks = survey.ranks;
      record.gpus = survey.gpus;
      if (boot::needs_mpi(survey.fabrics)) record.mpi_version = apps::mpi_version();
      record.n = static_cast<std::int64_t>(shape.runs());
      record.bytes = static_cast<std::int64_t>(shape.bytes()) * point.point.puts;
      record.samples_us = times.cost_us;
      record.extra["step_us"] = rounded(median(times.step_us));
      record.extra["distance"] = where_of(times, point.point.across);
      record.extra["run_bytes"] = shape.run;
      record.extra["puts"] = point.point.puts;
      if (shape.loop_count > 0) record.extra["pitch_bytes"] = shape.loops[0].to_pitch;
      record.extra["spacing"] = route::to_string(route::spacing(shape));
      const double fitted = table_us(table, times, point.point);
      if (fitted >= 0) record.extra["table_us"] = rounded(fitted);
      append_line(path, record.line());
    }
  }
}

Verdict verdict_of(const Survey& survey) {
  Verdict verdict;
  for (const PointTimes& point : survey.points) {
    for (const auto& [distance, chosen_name] : point.chosen) {
      const ChannelTimes *chosen = nullptr, *best = nullptr, *best_step = nullptr;
      for (const ChannelTimes& times : point.channels) {
        if (times.distance != distance) continue;
        if (times.channel.name() == chosen_name) chosen = &times;
        if (best == nullptr || median(times.cost_us) < median(best->cost_us)) best = &times;
        if (best_step == nullptr || median(times.step_us) < median(best_step->step_us)) best_step = &times;
      }
      if (chosen == nullptr || best == nullptr) continue;
      ++verdict.points;
      auto& [good_there, all_there] = verdict.by_distance[where_of(*chosen, point.point.across)];
      ++all_there;
      const double own = median(chosen->cost_us), least = median(best->cost_us);
      if (median(chosen->step_us) <= (1 + equal_within) * median(best_step->step_us)) ++verdict.good_steps;
      // A cost beyond the step without the exchange may be negative, and then 10 % more of it would be less.
      if (chosen == best || own - least <= equal_within * std::abs(least)) {
        ++verdict.good;
        ++good_there;
        continue;
      }
      verdict.misses.push_back({to_string(point.point), where_of(*chosen, point.point.across), chosen_name,
                                best->channel.name(), own, least});
    }
  }
  std::sort(verdict.misses.begin(), verdict.misses.end(),
            [](const auto& a, const auto& b) { return a.loss() > b.loss(); });
  return verdict;
}

void print(const Verdict& verdict, const Survey& survey) {
  fmt::print(
      "{} of {} puts ({:.1f} %) take a channel within 10 % of the best one, beyond the step without the "
      "exchange; {:.1f} % by the whole step\n",
      verdict.good, verdict.points, 100 * verdict.share(verdict.good),
      100 * verdict.share(verdict.good_steps));
  for (const auto& [where, count] : verdict.by_distance)
    fmt::print("  {}: {} of {}\n", where, count.first, count.second);
  fmt::print("by {}; {}\n", survey.costs, survey.describe());
  constexpr std::size_t shown = 10;
  for (std::size_t i = 0; i < std::min(shown, verdict.misses.size()); ++i) {
    const Verdict::Miss& miss = verdict.misses[i];
    fmt::print("  {:<32} {:<5} {} {:.3f} us, {} {:.3f} us: {:.0f} % more\n", miss.put, miss.where,
               miss.chosen, miss.chosen_us, miss.best, miss.best_us, 100 * miss.loss());
  }
  if (verdict.misses.size() > shown) fmt::print("  and {} more\n", verdict.misses.size() - shown);
}

}  // namespace tca::tool
