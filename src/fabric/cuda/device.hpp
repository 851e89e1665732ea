// Chooses the GPU that a rank drives, and finds out whether it reaches the others' GPUs.
#pragma once

#include <string>
#include <vector>

#include "control/control.hpp"

namespace tca::cuda {

struct DeviceInfo {
  int number = 0;  // as numbered in the rank's process
  int host = 0;
  char bus_id[16] = {};
  char name[64] = {};
};

// Chooses GPU `wanted`, or for -1 the one whose number is the rank's seat on its host modulo the number of
// GPUs here, and makes it the calling thread's current device. Throws Error{device_failed} if there is no
// GPU, and Error{invalid_argument} if none has that number.
DeviceInfo choose_device(control::Control& control, int wanted, const control::Places& places);

// Collective. Returns every rank's GPU. Throws Error{incompatible}, on every rank alike, naming two GPUs of a
// sub-cluster that do not reach each other.
std::vector<DeviceInfo> meet(control::Control& control, const control::Places& places,
                             const DeviceInfo& mine);

}  // namespace tca::cuda
