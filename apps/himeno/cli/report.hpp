// The report of `tca himeno`: a text for people, and lines of JSON.
#pragma once

#include <nlohmann/json.hpp>
#include <optional>
#include <string>
#include <vector>

#include "himeno/check.hpp"
#include "himeno/measure.hpp"
#include "himeno/problem.hpp"
#include "shared/cli/job.hpp"
#include "shared/cli/messages.hpp"

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
  JobReport job = {};
  std::string gpus{};                                                   // as Record::gpus; empty on the host
  nlohmann::ordered_json libraries = nlohmann::ordered_json::object();  // as Record::libraries
  std::string start = "host";
  bool start_was_chosen = false;              // by the size, the GPUs' memory and where the ranks are
  bool across = false;                        // on GPUs: the ranks are in several sub-clusters
  std::vector<ExplainedMessage> explained{};  // the halo first
  HimenoPeer peer{};
  bool overlap = true;
  bool guarded = true;
  double residual = 0;
  std::int64_t iterations = 0;                // including the rehearsal, and those that time the messages
  std::vector<himeno::Result> results{};      // OpenTCA's, then the peer's
  std::vector<apps::MessageCost> messages{};  // OpenTCA's, as far as they are asked for
  std::vector<HimenoAlone> alone{};
  std::optional<himeno::Check> check{};
  std::int64_t checked_iterations = 0;  // number of iterations after which the check was made
};

void print(const HimenoReport& report, const AppJob& job);

// Appends one line for each result.
void append_json(const HimenoReport& report, const std::string& path);

}  // namespace tca::tool
