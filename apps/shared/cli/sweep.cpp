#include "shared/cli/sweep.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <optional>
#include <set>
#include <utility>

#include "base/codec.hpp"
#include "cli/options/refuse.hpp"
#include "cli/output/plot.hpp"
#include "cli/output/temporary_file.hpp"
#include "core/world/world_state.hpp"
#include "route/choose.hpp"

namespace tca::tool {
namespace {

base::Shape block_of(std::int64_t bytes) {
  base::Shape shape;
  shape.run = static_cast<std::uint64_t>(bytes);
  return shape;
}

// Returns the channels that bring a put from this rank to every other.
std::vector<std::string> own_channels(const World& world, std::int64_t bytes) {
  const core::WorldState& state = core::WorldState::of(world);
  std::vector<std::string> all;
  bool is_first = true;
  for (int to = 0; to < world.size(); ++to) {
    if (to == world.rank()) continue;
    std::vector<std::string> here;
    for (const route::Candidate& one :
         route::candidates(state.fabrics(), state.costs(), {.target = to, .shape = block_of(bytes)}, {}))
      if (one.predicted_us && one.has_room) here.push_back(one.channel);
    if (std::exchange(is_first, false)) all = here;
    std::erase_if(all, [&](const std::string& one) { return std::ranges::find(here, one) == here.end(); });
  }
  return all;
}

// Returns those that every rank has. Collective.
std::vector<std::string> channels_of_all(World& world, std::int64_t bytes) {
  std::vector<std::string> common;
  const auto blobs = core::WorldState::of(world).control().make_together("the channels to try", [&] {
    base::Writer writer;
    for (const std::string& channel : own_channels(world, bytes)) writer.put_string(channel);
    return writer.blob();
  });
  bool is_first = true;
  for (const base::Blob& blob : blobs) {
    std::vector<std::string> there;
    for (base::Reader reader(blob); !reader.done();) there.push_back(reader.get_string());
    if (std::exchange(is_first, false)) common = there;
    std::erase_if(common,
                  [&](const std::string& one) { return std::ranges::find(there, one) == there.end(); });
  }
  return common;
}

std::string channel_in_words(const std::string& channel) { return channel.empty() ? "any" : channel; }

std::string within(double own_us, double best_us) {
  const double above = 100 * (own_us / best_us - 1);
  return above < 0.05 ? "as fast as the fastest of them"
                      : fmt::format("{:.1f} % above the fastest of them", above);
}

}  // namespace

std::vector<apps::Channels> combinations(World& world, const std::vector<SweptMessage>& messages,
                                         const apps::Channels& forced) {
  std::vector<apps::Channels> all{forced};
  for (const SweptMessage& message : messages) {
    if (forced.is_forced(message.name)) continue;
    const std::vector<std::string> channels = channels_of_all(world, message.bytes);
    std::vector<apps::Channels> further;
    for (const apps::Channels& one : all)
      for (const std::string& channel : channels) {
        further.push_back(one);
        further.back().force(message.name, channel);
      }
    if (!further.empty()) all = std::move(further);
  }
  return all;
}

bool SweepReport::is_chosen(const TriedChannels& one) const {
  return std::ranges::all_of(own, [&](const ExplainedMessage& message) {
    return one.channels.of(message.name).empty() ||
           one.channels.of(message.name) == read_route(message.text).channel;
  });
}

void print(const SweepReport& report) {
  std::vector<const TriedChannels*> order;
  for (const TriedChannels& one : report.tried) order.push_back(&one);
  std::ranges::stable_sort(order, {}, [](const TriedChannels* one) { return one->us; });
  const double best_us = order.front()->us;
  fmt::print("\n");
  for (const std::string& name : report.names) fmt::print("{:<18}", name);
  fmt::print("{:>14}{:>14}{:>16}\n", report.step, report.figure, "to the fastest");
  for (const TriedChannels* one : order) {
    for (const std::string& name : report.names)
      fmt::print("{:<18}", channel_in_words(one->channels.of(name)));
    fmt::print("{:>14.2f}{:>14.{}f}{:>16.2f}{}\n", one->us, one->figure, one->figure < 100 ? 4 : 0,
               one->us / best_us, report.is_chosen(*one) ? "  as the library chooses" : "");
  }
  fmt::print("Medians. The library's own choice takes {:.2f} us, {}.\n", report.own_us,
             within(report.own_us, best_us));
}

void keep_lines(const AppJob& job, const std::vector<std::string>& lines) {
  const auto write = [&](const std::string& path) {
    for (const std::string& line : lines) append_line(path, line);
  };
  if (!job.json.empty()) write(job.json);
  if (job.plot.empty()) return;
  std::optional<TemporaryFile> own;
  if (job.json.empty()) write(own.emplace().path());
  if (draw({own ? own->path() : job.json}, job.plot, "") != 0)
    refuse("{} was not drawn; --json FILE keeps what was measured, and `tca plot FILE` draws it", job.plot);
}

namespace {

void add_channels(const SweepReport& report, const TriedChannels& one, Record& record) {
  nlohmann::ordered_json channels = nlohmann::ordered_json::object();
  std::set<std::string> protocols;
  for (const std::string& name : report.names) {
    const std::string channel = one.channels.of(name);
    channels[name] = channel;
    protocols.insert(channel.substr(channel.find('/') + 1));
  }
  record.protocol.clear();
  for (const std::string& protocol : protocols)
    record.protocol += (record.protocol.empty() ? "" : "+") + protocol;
  record.extra["channels"] = channels;
  record.extra["chosen"] = report.is_chosen(one);
}

}  // namespace

void keep_records(const AppJob& job, const SweepReport& sweep, std::vector<Record> records) {
  const std::size_t first = sweep.tried.empty() ? 0 : 1;
  for (std::size_t i = 0; i < sweep.tried.size(); ++i) add_channels(sweep, sweep.tried[i], records[i + 1]);
  std::vector<std::string> lines;
  for (std::size_t i = first; i < records.size(); ++i) lines.push_back(records[i].line());
  keep_lines(job, lines);
}

}  // namespace tca::tool
