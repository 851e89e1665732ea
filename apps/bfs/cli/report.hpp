// The report of `tca bfs`: a text for people, and lines of JSON.
#pragma once

#include <cstdint>
#include <nlohmann/json.hpp>
#include <string>
#include <vector>

#include "bfs/measure.hpp"
#include "bfs/problem.hpp"
#include "shared/cli/job.hpp"
#include "shared/cli/messages.hpp"
#include "shared/cli/sweep.hpp"

namespace tca::tool {

struct BfsReport {
  bfs::Problem problem;
  std::string style;       // of the messages: "packed" or "paper"
  bool validated = false;  // whether every search was validated
  double generation_seconds = 0, construction_seconds = 0;
  std::int64_t connected = 0;  // vertices that have neighbours
  JobReport job = {};
  std::vector<ExplainedMessage> explained = {};
  std::string gpus = {};                                                // as Record::gpus; empty on hosts
  nlohmann::ordered_json libraries = nlohmann::ordered_json::object();  // as Record::libraries
  std::string start = "host";
  PeerLibrary peer = {};
  std::vector<bfs::Result> results{};  // OpenTCA's, and the peer's or those of the combinations of channels
  bool messages_by_host =
      false;  // a kernel sends them by itself; those of steps that the host starts were timed
  std::vector<apps::Channels> channels{};  // these combinations

  // Whether no search was found to be wrong.
  bool is_right() const;
};

// Says in words whether the searches are right, and which is not.
std::string bfs_answer(const bfs::Result& result, bool validated);

// Prints what each message costs too, as far as the options ask for it.
void print(const BfsReport& report, const AppJob& job);

// Appends one line for each result, or draws combinations of channels.
void keep(const BfsReport& report, const AppJob& job);

}  // namespace tca::tool
