// Which GPU a rank drives, and whether it reaches the others'.
#pragma once

#include <string>
#include <vector>

#include "fabric/control.hpp"

namespace tca::cuda {

struct DeviceInfo {
  int number = 0;  // as this process counts
  int host = 0;
  char bus_id[16] = {};
  char name[64] = {};
};

// `wanted` is -1 for the rank's seat on its host modulo the GPUs here. Throws Error{device_failed} when there is none,
// Error{invalid_argument} when there are fewer. It becomes the calling thread's current device.
DeviceInfo choose_device(int wanted, int rank, const fabric::Places& places);

// Collective: every rank's GPU. Throws Error{incompatible}, on every rank alike, naming two of a sub-cluster that do not
// reach each other.
std::vector<DeviceInfo> meet(fabric::Control& control, const fabric::Places& places, const DeviceInfo& mine);

}  // namespace tca::cuda
