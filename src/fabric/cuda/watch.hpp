// Watches the other ranks from a thread, since this rank's host may be blocked in a CUDA call: without it,
// kernels would not learn that a rank they are waiting for has died.
#pragma once

#include "base/system/worker.hpp"
#include "control/control.hpp"
#include "tca/device/memory.hpp"

namespace tca::cuda {

class Watch {
 public:
  // `gone` has one word for each rank, which becomes 1 once that rank is gone.
  Watch(const control::Control& control, device::Word* gone);

 private:
  base::Worker thread_;  // none in a world of one
};

}  // namespace tca::cuda
