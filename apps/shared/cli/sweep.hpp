// Every combination of the channels of an application's messages, tried beside the library's own choice.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "cli/output/record.hpp"
#include "shared/channels.hpp"
#include "shared/cli/job.hpp"
#include "shared/cli/messages.hpp"
#include "tca/world.hpp"

namespace tca::tool {

struct SweptMessage {
  std::string_view name;
  std::int64_t bytes;  // of a put
};

// Collective. Returns all combinations, the same on every rank: for each message that is not forced one of
// the channels that bring such a put from every rank to every other, and whose time is known; the forced ones
// as they are.
std::vector<apps::Channels> combinations(World& world, const std::vector<SweptMessage>& messages,
                                         const apps::Channels& forced);

// What was found of a combination.
struct TriedChannels {
  apps::Channels channels;
  double us;      // the median of a step
  double figure;  // what the benchmark makes of it
};

struct SweepReport {
  std::vector<std::string> names;  // of the messages
  std::string step, figure;        // headings, "search us" and "GTEPS"
  double own_us = 0;               // the library's own choice
  std::vector<ExplainedMessage> own;
  std::vector<TriedChannels> tried;

  // Whether a combination is what the library chooses by itself.
  bool is_chosen(const TriedChannels& one) const;
};

// Prints the combinations, the fastest first, and how near to it the library's own choice comes.
void print(const SweepReport& report);

// Appends the lines to --json and draws them to --plot, as far as these are given.
void keep_lines(const AppJob& job, const std::vector<std::string>& lines);

// Does so with the records of a run, the library's own choice first. Of a sweep, those of the combinations alone
// are kept, each completed with its channels and with whether the library chooses it.
void keep_records(const AppJob& job, const SweepReport& sweep, std::vector<Record> records);

}  // namespace tca::tool
