// The report of `tca pic`: a text for people, and lines of JSON.
#pragma once

#include <nlohmann/json.hpp>
#include <string>
#include <vector>

#include "pic/deck.hpp"
#include "pic/measure.hpp"
#include "pic/physics.hpp"
#include "shared/cli/job.hpp"
#include "shared/cli/messages.hpp"

namespace tca::tool {

struct PicReport {
  pic::Deck deck;
  std::string grid = {};
  bool is_fast = false;
  std::string gpus = {};                                                // as Record::gpus
  nlohmann::ordered_json libraries = nlohmann::ordered_json::object();  // as Record::libraries
  std::string start = "host";
  JobReport job = {};
  std::vector<ExplainedMessage> explained = {};
  PeerLibrary peer = {};
  pic::Simulation run = {};
  pic::Finding wave = {};

  // The most by which Gauss's law was off at any step that was looked at.
  double off_gauss() const;
  // What is wrong with the plasma, in words; empty where nothing is.
  std::string fault() const;
};

// Prints what each message costs too, as far as the options ask for it.
void print(const PicReport& report, const AppJob& job);

// Appends one line for each way.
void keep(const PicReport& report, const AppJob& job);

}  // namespace tca::tool
