// The report of `tca cg`: a text for people, and lines of JSON.
#pragma once

#include <cstdint>
#include <nlohmann/json.hpp>
#include <string>
#include <vector>

#include "cg/measure.hpp"
#include "cg/problem.hpp"
#include "shared/cli/job.hpp"
#include "shared/cli/messages.hpp"
#include "shared/cli/sweep.hpp"

namespace tca::tool {

struct CgReport {
  cg::Problem problem;
  std::int64_t nonzeros = 0;
  std::string grid;
  std::string order;
  JobReport job = {};
  std::string gpus = {};                                                // as Record::gpus; empty on hosts
  nlohmann::ordered_json libraries = nlohmann::ordered_json::object();  // as Record::libraries
  std::string start = "host";
  std::vector<ExplainedMessage> explained = {};
  PeerLibrary peer = {};
  std::int64_t bytes = 0;             // sent by all ranks in an inner iteration, beside scalars
  std::vector<cg::Result> results{};  // OpenTCA's, and the peer's or those of the combinations of channels
  bool messages_by_host =
      false;  // a kernel sends them by itself; those of steps that the host starts were timed
  std::vector<apps::Channels> channels{};  // these combinations

  // Whether every way has found the published result.
  bool verified() const;
};

// Says in words whether the benchmark's result is right, and gives both where it is not.
std::string cg_answer(const cg::Result& result, const cg::Problem& problem);

// Prints what each message costs too, as far as the options ask for it.
void print(const CgReport& report, const AppJob& job);

// Appends one line for each result, or draws combinations of channels.
void keep(const CgReport& report, const AppJob& job);

}  // namespace tca::tool
