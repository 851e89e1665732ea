// The report of `tca himeno`: a text for people, and lines of JSON.
#pragma once

#include <nlohmann/json.hpp>
#include <optional>
#include <string>
#include <vector>

#include "himeno/check.hpp"
#include "himeno/measure.hpp"
#include "himeno/problem.hpp"

namespace tca::tool {

// The library measured beside OpenTCA, if any.
struct HimenoPeer {
  std::string name;  // "MPI" or "NCCL"
  std::string version;
};

// A part of the communication alone, measured in the same job beside the peer.
struct HimenoAlone {
  std::string what;
  std::vector<double> own_us, peer_us;  // one sample a round
};

struct HimenoReport {
  std::string size;
  himeno::Extents extents;
  std::string grid;
  std::string world;        // from World::describe()
  std::string placement{};  // from bench::placement(); empty on sim
  int processors = 0;       // that the ranks have between them; 0 where they need none of their own
  std::string gpus{};       // as Record::gpus; empty on the host
  nlohmann::ordered_json libraries = nlohmann::ordered_json::object();  // as Record::libraries
  std::string fabric = "shm";
  std::string model{};  // as Record::model; empty where time is real
  std::string start = "host";
  bool start_was_chosen = false;  // by the size, the GPUs' memory and where the ranks are
  bool across = false;            // on GPUs: the ranks are in several sub-clusters
  std::string explain{};          // from Chain::explain()
  HimenoPeer peer{};
  int ranks = 1;
  bool overlap = true;
  bool guarded = true;
  double residual = 0;
  std::int64_t iterations = 0;            // including the rehearsal
  std::vector<himeno::Result> results{};  // OpenTCA's, then the peer's
  std::vector<HimenoAlone> alone{};
  std::optional<himeno::Check> check{};
  std::int64_t checked_iterations = 0;  // number of iterations after which the check was made
};

void print(const HimenoReport& report);

// Appends one line for each result.
void append_json(const HimenoReport& report, const std::string& path);

}  // namespace tca::tool
