// The GPUs of a job, for its records.
#pragma once

#include <string>
#include <vector>

#include "tca/world.hpp"

namespace tca::bench::gpu {

struct Machine {
  std::string gpus;    // "4 x NVIDIA H200"
  std::string driver;  // "580.159.04", or "unknown"
  std::string cuda;    // "13.0", of the runtime that this was built with

  // "4 x NVIDIA H200, driver 580.159.04, CUDA 13.0"
  std::string describe() const;
};

// Collective.
Machine machine(World& world);

// "4 x NVIDIA H200", or "2 x A, 1 x B", from the ranks' World::device_name(), such as "NVIDIA H200
// (0000:01:00.0), GPU 0"; ranks that share a GPU count it once.
std::string count_gpus(const std::vector<std::string>& device_names);

}  // namespace tca::bench::gpu
