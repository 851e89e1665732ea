// What `tca himeno` says at the end: for people, and as lines of JSON.
#pragma once

#include <nlohmann/json.hpp>
#include <optional>
#include <string>
#include <vector>

#include "himeno/check.hpp"
#include "himeno/measure.hpp"
#include "himeno/problem.hpp"

namespace tca::tool {

// Who was measured beside OpenTCA, if anybody was.
struct HimenoPeer {
  std::string name;  // "MPI" or "NCCL"
  std::string version;
};

struct HimenoReport {
  std::string size;
  himeno::Extents extents;
  std::string grid;
  std::string world;                                                    // as World::describe()
  std::string gpus{};                                                   // as Record::gpus; empty on the host
  nlohmann::ordered_json libraries = nlohmann::ordered_json::object();  // as Record::libraries
  std::string fabric = "shm";
  std::string model{};  // as Record::model; empty where time is real
  std::string start = "host";
  bool start_was_chosen = false;  // by the size, the GPUs' memory and where the ranks are
  bool across = false;            // they are, on GPUs
  std::string explain{};          // as Chain::explain()
  HimenoPeer peer{};
  int ranks = 1;
  bool overlap = true;
  bool guarded = true;
  double residual = 0;
  std::int64_t iterations = 0;            // rehearsal included
  std::vector<himeno::Result> results{};  // OpenTCA, then the peer
  std::optional<himeno::Check> check{};
  std::int64_t checked_iterations = 0;  // those after which the check was made
};

void print(const HimenoReport& report);

// One line for each result.
void append_json(const HimenoReport& report, const std::string& path);

}  // namespace tca::tool
