// The report of `tca spin`: a text for people, and lines of JSON.
#pragma once

#include <nlohmann/json.hpp>
#include <string>
#include <vector>

#include "shared/cli/job.hpp"
#include "shared/cli/messages.hpp"
#include "spin/measure.hpp"
#include "spin/problem.hpp"

namespace tca::tool {

struct SpinReport {
  spin::Problem problem;
  spin::Plan plan;
  std::string grid;
  bool in_double = false;
  bool overlap = true;
  std::string start = "host";
  bool start_was_chosen = false;
  JobReport job = {};
  std::string gpus = {};                                                // what GPUs they are; empty on hosts
  nlohmann::ordered_json libraries = nlohmann::ordered_json::object();  // as Record::libraries
  std::vector<ExplainedMessage> explained = {};
  PeerLibrary peer = {};
  spin::Simulation run = {};

  // What is wrong with the spins, in words; empty where nothing is.
  std::string fault() const;
};

// Prints what each message costs too, as far as the options ask for it.
void print(const SpinReport& report, const AppJob& job);

// Appends one line for each way.
void keep(const SpinReport& report, const AppJob& job);

}  // namespace tca::tool
