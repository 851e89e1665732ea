// The device that a rank drives, real or modelled. What a real one does for the layers above is in
// accelerator.hpp.
#pragma once

#include <string>

namespace tca::fabric {

struct Device {
  // For people to read, e.g. "NVIDIA H200 (0000:01:00.0), GPU 0". The part before " (" is the device's
  // model.
  std::string name;
  int ranks = 1;  // that drive it, including this one
};

// The kernels of a modelled device, of which only the time is known.
class ComputeModel {
 public:
  virtual ~ComputeModel() = default;

  // Lets the time pass that a kernel takes which moves `bytes` of memory and does `flops` operations.
  virtual void compute(double bytes, double flops) = 0;
};

}  // namespace tca::fabric
