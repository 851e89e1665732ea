// The report of `tca qcd`: a text for people, and lines of JSON.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "cli/output/record.hpp"
#include "qcd/cli/options.hpp"
#include "qcd/pion.hpp"
#include "qcd/solver/inverter.hpp"

namespace tca::tool {

// What the reports of all actions share.
struct QcdSetting {
  const QcdOptions& options;
  qcd::Extents extents;
  std::string grid;
  JobReport job;
  std::string links;  // where the links come from
  qcd::Averages averages;
};

// The time of a solver's iteration or of an application of the operator, and its parts. The parts are
// medians too, each of the rank where it is longest.
struct QcdPace {
  std::vector<double> samples_us;  // rank 0's
  double median_us = 0;
  double operator_us = 0;
  double wait_us = 0;
  double sums_us = 0;
  double gflops = 0;                     // of all ranks, at the median
  std::int64_t bytes = 0;                // sent by all ranks
  std::optional<std::string> peer = {};  // "mpi" or "nccl" when it is not OpenTCA's
  // On GPUs, where the host does not see the parts: what started it, and on which GPUs.
  std::string start = "host";
  std::string gpus = {};
  nlohmann::ordered_json libraries = nlohmann::ordered_json::object();
};

void print_setting(const QcdSetting& setting, const std::string& what);
void print_inversion(const QcdSetting& setting, const qcd::Inversion& inversion, const QcdPace& pace);
void print_dslash(const QcdSetting& setting, const QcdPace& pace);
// Prints a peer's line below OpenTCA's own, and how many times as long each part took.
void print_peer(const QcdPace& own, const QcdPace& peer, const char* unit, bool sums);
void print_pion(const qcd::Pion& pion);

void append_inversion(const QcdSetting& setting, const qcd::Inversion& inversion, const QcdPace& pace,
                      const std::string& explain);
void append_dslash(const QcdSetting& setting, const QcdPace& pace, const std::string& explain);
// What was measured of links. `samples_us` holds the time of each sweep or, without sweeps, the time that the
// averages took.
struct LinksMeasured {
  std::vector<double> samples_us;
  qcd::Averages averages;
  nlohmann::ordered_json extra = nlohmann::ordered_json::object();
};
void append_links(const QcdSetting& setting, const LinksMeasured& measured);
// Returns a line of its own kind, which `tca plot` draws. `pace` says what solved, and on which GPUs; its
// samples are filled in here.
std::string pion_line(const QcdSetting& setting, const qcd::Pion& pion, QcdPace pace);

}  // namespace tca::tool
