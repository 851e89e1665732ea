// What an application's messages cost beside what the library says of them, a line each.
#pragma once

#include <nlohmann/json.hpp>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "shared/cli/job.hpp"
#include "shared/message_cost.hpp"
#include "tca/world.hpp"

namespace tca::tool {

// What a message's chains, or its collective, say of it: their explain().
struct ExplainedMessage {
  std::string name, text;
};
std::string joined(const std::vector<ExplainedMessage>& messages);

// Of a message that this rank may only receive: what the lowest rank that puts any of it says. Collective.
std::string explained_by_sender(World& world, const std::string& own);

// What such a text says of the message as a whole.
struct MessageRoute {
  std::string channel;                 // "shm/direct"; of several joined by "+"
  std::optional<double> predicted_us;  // empty where a put's time is not known
  // The next best channel and what it would take, where the library has chosen.
  std::string next_best;
  double next_best_us = 0;
};
MessageRoute read_route(const std::string& explain);

// The messages of a step that takes `step_us`.
struct MessageTable {
  std::string who;   // "OpenTCA", "MPI"
  std::string step;  // "an iteration"
  double step_us = 0;
  std::vector<apps::MessageCost> costs;
};

// Prints nothing where there are no messages.
void print_messages(const MessageTable& table);

// With --explain prints each message's channel, prediction and next best channel, the 99th percentile, and
// what is left of a step beside them too.
void print_messages(const MessageTable& table, const std::vector<ExplainedMessage>& explained,
                    const AppJob& job);

// Said where a kernel sends the messages of a step by itself, so that their share of it is not known.
inline constexpr std::string_view said_of_messages_by_host =
    "The kernel sends the same by itself, in less time: these are the messages of steps that the host "
    "starts.\n";

nlohmann::ordered_json json_of(const std::vector<apps::MessageCost>& costs,
                               const std::vector<ExplainedMessage>& explained = {});

}  // namespace tca::tool
