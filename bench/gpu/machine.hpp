// The GPUs of a job, for its results.
#pragma once

#include <string>
#include <vector>

#include "tca/world.hpp"

namespace tca::bench::gpu {

struct Machine {
  std::string gpus;    // "4 x NVIDIA H200"
  std::string driver;  // "580.159.04", or "unknown"
  std::string cuda;    // "13.0"; the runtime that this was built with

  // Returns "4 x NVIDIA H200, driver 580.159.04, CUDA 13.0", for example.
  std::string describe() const;
};

// Collective.
Machine machine(World& world);

// Writes into an application's report on which GPUs it ran, with which CUDA and driver. Collective.
template <class Report>
void describe_gpus(World& world, Report& report) {
  const Machine all = machine(world);
  report.gpus = all.describe();
  report.libraries = {{"cuda", all.cuda}, {"driver", all.driver}};
}

// Returns "4 x NVIDIA H200", or "2 x A, 1 x B", for example. The argument has the ranks'
// World::device_name(), such as "NVIDIA H200 (0000:01:00.0), GPU 0". A GPU that ranks share counts once.
std::string count_gpus(const std::vector<std::string>& device_names);

}  // namespace tca::bench::gpu
