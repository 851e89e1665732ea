// `tca trigger` as one rank, and as its detector.
#pragma once

#include <cstdint>
#include <string>

#include "shared/cli/job.hpp"
#include "tca/world.hpp"
#include "trigger/answerer.hpp"
#include "trigger/cli/report.hpp"
#include "trigger/link.hpp"

namespace tca::tool {

struct TriggerOptions : AppJob {
  trigger::Run run;
  std::string rings = "0-3";
  std::string start = "auto";
  int slots = 4096;
  int port = 0;
  std::uint32_t gather = 0;  // 0 where it was not given
  double gather_us = 0;
  double deadline_us = 1000;
  bool deadline_given = false;
  bool beside = false;      // --compare: not with MPI, which RankJob::compare means
  std::string histogram;    // a file
  std::string as_detector;  // what the detector's process is told
};

// Throw Error{invalid_argument} for what cannot be read.
trigger::Run trigger_run(const TriggerOptions& options);
trigger::Gather trigger_gather(const TriggerOptions& options);

// Collective. Throws what goes wrong on this rank.
TriggerReport run_as_trigger(World& world, const TriggerOptions& options);

// Returns the exit code of the detector.
int run_as_detector(const TriggerOptions& options);

}  // namespace tca::tool
