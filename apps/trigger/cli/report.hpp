// The report of `tca trigger`: a text for people, lines of JSON, and the latencies as HdrHistogram prints them.
#pragma once

#include <nlohmann/json.hpp>
#include <string>
#include <vector>

#include "shared/cli/job.hpp"
#include "trigger/answerer.hpp"
#include "trigger/books/summary.hpp"
#include "trigger/link.hpp"

namespace tca::tool {

struct TriggerWay {
  std::string name;   // "OpenTCA", or what it is compared with
  std::string start;  // "host" or "kernel"
  trigger::Summary summary;
};

struct TriggerReport {
  trigger::Run run;
  trigger::Gather gather;
  int slots = 0;
  double deadline_us = 0;
  bool holds_deadline = false;                                          // a miss is a fault
  std::string gpus = {};                                                // as Record::gpus
  nlohmann::ordered_json libraries = nlohmann::ordered_json::object();  // as Record::libraries
  JobReport job = {};
  std::vector<TriggerWay> ways = {};  // OpenTCA's comes first

  // What is wrong, in words; empty where nothing is.
  std::string fault() const;
};

void print(const TriggerReport& report);

// Appends one line for each way, and draws them, as far as the options ask for it.
void keep(const TriggerReport& report, const AppJob& job);

// Replaces the file with the percentiles of OpenTCA's latencies, as a whole. Throws Error{invalid_argument} where it
// cannot be written.
void keep_histogram(const TriggerReport& report, const std::string& path);

}  // namespace tca::tool
