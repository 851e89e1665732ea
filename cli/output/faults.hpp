// What ranks were told of failed parts of a modelled machine, as commands show and record it.
#pragma once

#include <CLI/CLI.hpp>
#include <functional>
#include <map>
#include <nlohmann/json.hpp>
#include <string>
#include <vector>

#include "tca/world.hpp"

namespace tca::tool {

// Adds --fault, which may be given several times.
void add_fault_option(CLI::App& app, std::string& faults);

// Returns what WorldOptions::faults is to be: what --fault had, or nothing where OPENTCA_FAULTS had it, which the library reads
// itself, and then names where it refuses it.
std::string faults_by_option(const std::string& faults);

class FaultReport {
 public:
  // `asked` is what is to fail, as WorldOptions::faults; where it is empty, OPENTCA_FAULTS may still say.
  FaultReport(const std::string& asked, int ranks);

  // Notes what a rank knows at its end. Called by one rank at a time.
  void note(const World& world);

  // Prints a line for each fault, and one for each part into which they divide ranks. Prints nothing where nothing is
  // to fail.
  void print() const;
  // Returns the same: for each fault its name, when it failed, and how long after that its first neighbour noticed
  // (notice_us) and the last rank that was told was told (told_us).
  nlohmann::ordered_json json() const;

 private:
  struct Row {
    KnownFault first;      // as the first rank to note it knows it
    double last_told = 0;  // seconds
    std::vector<int> told;
  };

  bool asked_;
  int ranks_;
  std::vector<std::string> order_;
  std::map<std::string, Row> rows_;
  std::vector<std::vector<int>> sides_;
};

// Runs `body` as World::run_threads does, and prints what the ranks were told, also where one of them ends with an error.
void run_threads_and_tell(int ranks, const std::function<void(World&)>& body, const WorldOptions& options);

}  // namespace tca::tool
