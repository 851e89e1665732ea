// What `tca qcd` says: for people, and as lines of JSON.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "qcd/inverter.hpp"
#include "qcd/pion.hpp"
#include "qcd_options.hpp"
#include "record.hpp"

namespace tca::tool {

// What all actions share.
struct QcdSetting {
  const QcdOptions& options;
  qcd::Extents extents;
  std::string grid;
  std::string world;  // as World::describe()
  std::string links;  // where they come from
  int ranks;
  qcd::Averages averages;
};

// An iteration of a solver, or an application of the operator: averages of the rank where each is longest.
struct QcdPace {
  std::vector<double> samples_us;  // of rank 0
  double median_us = 0;
  double operator_us = 0;
  double wait_us = 0;
  double sums_us = 0;
  double gflops = 0;                     // of all ranks, at the median
  std::int64_t bytes = 0;                // sent by all ranks
  std::optional<std::string> peer = {};  // whose it is when not OpenTCA's: "mpi" or "nccl"
  // On GPUs, where the host does not see the parts: who started it, and on what.
  std::string start = "host";
  std::string gpus = {};
  nlohmann::ordered_json libraries = nlohmann::ordered_json::object();
};

void print_setting(const QcdSetting& setting, const std::string& what);
void print_inversion(const QcdSetting& setting, const qcd::Inversion& inversion, const QcdPace& pace);
void print_dslash(const QcdSetting& setting, const QcdPace& pace);
// A peer's line below OpenTCA's own, and what each part took as a multiple of it.
void print_peer(const QcdPace& own, const QcdPace& peer, const char* unit, bool sums);
void print_pion(const qcd::Pion& pion);

void append_inversion(const QcdSetting& setting, const qcd::Inversion& inversion, const QcdPace& pace,
                      const std::string& explain);
void append_dslash(const QcdSetting& setting, const QcdPace& pace, const std::string& explain);
// What was measured of links: `samples_us` a sweep, or finding their averages once.
struct LinksMeasured {
  std::vector<double> samples_us;
  qcd::Averages averages;
  nlohmann::ordered_json extra = nlohmann::ordered_json::object();
};
void append_links(const QcdSetting& setting, const LinksMeasured& measured);
// A line of its own kind, which `tca plot` draws.
// `pace` says who solved and on what; its samples are filled in.
std::string pion_line(const QcdSetting& setting, const qcd::Pion& pion, QcdPace pace);

}  // namespace tca::tool
