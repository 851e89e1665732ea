#include "shared/cli/messages.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <regex>
#include <sstream>

#include "base/codec.hpp"
#include "cli/output/record.hpp"
#include "core/world/world_state.hpp"

namespace tca::tool {
namespace {

// A line of Chain::explain about a put: its channel and what it should take.
const std::regex& put_line() {
  static const std::regex line(R"(^ +[0-9]+ +rank [0-9]+ +([a-z_]+/[a-z_]+) +(?:([0-9.]+) us|not known) .*)");
  return line;
}

// Adds a put's next best channel. Puts of a message that have different ones have none together.
void add_next_best(MessageRoute& route, const std::string& line, bool is_first) {
  static const std::regex next("next best ([a-z_]+/[a-z_]+) ([0-9.]+) us");
  std::smatch found;
  if (!std::regex_search(line, found, next) || (!is_first && found[1] != route.next_best)) {
    route.next_best.clear();
    return;
  }
  route.next_best = found[1];
  route.next_best_us += std::stod(found[2]);
}

const std::string& text_of(const std::vector<ExplainedMessage>& messages, std::string_view name) {
  static const std::string none;
  const auto found = std::ranges::find(messages, name, &ExplainedMessage::name);
  return found == messages.end() ? none : found->text;
}

double share(const MessageTable& table, const apps::MessageCost& cost) {
  return 100 * cost.count * cost.us / table.step_us;
}

std::string count_in_words(double count) { return fmt::format("{:.3g}", count); }

}  // namespace

std::string joined(const std::vector<ExplainedMessage>& messages) {
  std::string all;
  for (const ExplainedMessage& message : messages) all += message.text;
  return all;
}

std::string explained_by_sender(World& world, const std::string& own) {
  const auto blobs = core::WorldState::of(world).control().make_together("what messages say", [&] {
    base::Writer writer;
    writer.put_string(channels_in(own).empty() ? "" : own);
    return writer.blob();
  });
  for (const base::Blob& blob : blobs)
    if (const std::string text = base::Reader(blob).get_string(); !text.empty()) return text;
  return own;
}

MessageRoute read_route(const std::string& explain) {
  static const std::regex quoted("'[^']*'");  // names of the program, which may hold anything
  static const std::regex taken(R"(\(taken\): predicted ([0-9.]+) us)");
  static const std::regex tells("^  tells rank .*; a signal crosses in ([0-9]+) ns$");
  MessageRoute route;
  std::optional<double> collectives, puts = 0;
  double signals_us = 0;
  bool is_first = true;
  std::istringstream lines(std::regex_replace(explain, quoted, "''"));
  for (std::string line; std::getline(lines, line);) {
    std::smatch found;
    if (std::regex_search(line, found, taken)) {
      collectives = collectives.value_or(0) + std::stod(found[1]);
    } else if (std::regex_match(line, found, put_line())) {
      if (puts && found[2].matched)
        *puts += std::stod(found[2]);
      else
        puts.reset();
      add_next_best(route, line, is_first);
      is_first = false;
    } else if (std::regex_match(line, found, tells)) {
      signals_us += 1e-3 * std::stod(found[1]);
    }
  }
  // Behind all puts of a chain, by whatever channel.
  if (puts) *puts += signals_us;
  if (!route.next_best.empty()) route.next_best_us += signals_us;
  for (const auto& [channel, number] : channels_in(explain))
    route.channel += (route.channel.empty() ? "" : "+") + channel;
  // A collective knows which of its puts follow each other.
  if (collectives || !is_first) route.predicted_us = collectives ? collectives : puts;
  return route;
}

void print_messages(const MessageTable& table) {
  if (table.costs.empty()) return;
  fmt::print("\n{:<10}{:>14}{:>14}{:>12}{:>14}{:>10}\n", table.who, "bytes", table.step, "us", "waiting us",
             "share");
  for (const apps::MessageCost& cost : table.costs)
    fmt::print("{:<10}{:>14}{:>14}{:>12.2f}{:>14.2f}{:>8.0f} %\n", cost.name, cost.bytes,
               count_in_words(cost.count), cost.us, cost.waiting_us, share(table, cost));
}

void print_messages(const MessageTable& table, const std::vector<ExplainedMessage>& explained,
                    const AppJob& job) {
  if (!job.explain) return print_messages(table);
  if (table.costs.empty()) return;
  fmt::print("\n{:<9}{:>9}{:>13}  {:<14}{:>10}{:>9}{:>9}{:>9}  {:<20}{:>8}\n", table.who, "bytes", table.step,
             "channel", "predicted", "median", "p99", "waiting", "next best", "share");
  double rest = 100;
  for (const apps::MessageCost& cost : table.costs) {
    const MessageRoute route = read_route(text_of(explained, cost.name));
    const std::string next =
        route.next_best.empty() ? "" : fmt::format("{} {:.2f}", route.next_best, route.next_best_us);
    fmt::print("{:<9}{:>9}{:>13}  {:<14}{:>10}{:>9.2f}{:>9.2f}{:>9.2f}  {:<20}{:>6.0f} %\n", cost.name,
               cost.bytes, count_in_words(cost.count), route.channel,
               route.predicted_us ? fmt::format("{:.2f}", *route.predicted_us) : "-", cost.us, cost.p99_us,
               cost.waiting_us, next, share(table, cost));
    rest -= share(table, cost);
  }
  fmt::print("{:<104}{:>6.0f} %\n", "the rest", rest);
  fmt::print(
      "Times in us. Predicted: of the puts and their signal, without a partner that comes late. Waiting: "
      "what of the\nmedian the slowest rank has waited for the last one to come.\n");
}

nlohmann::ordered_json json_of(const std::vector<apps::MessageCost>& costs,
                               const std::vector<ExplainedMessage>& explained) {
  auto all = nlohmann::ordered_json::array();
  for (const apps::MessageCost& cost : costs) {
    nlohmann::ordered_json one{{"name", cost.name},
                               {"bytes", cost.bytes},
                               {"count", rounded(cost.count)},
                               {"median_us", rounded(cost.us)},
                               {"p99_us", rounded(cost.p99_us)},
                               {"waiting_us", rounded(cost.waiting_us)}};
    const MessageRoute route = read_route(text_of(explained, cost.name));
    if (!route.channel.empty()) one["channel"] = route.channel;
    if (route.predicted_us) one["predicted_us"] = rounded(*route.predicted_us);
    all.push_back(std::move(one));
  }
  return all;
}

}  // namespace tca::tool
