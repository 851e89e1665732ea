// Looks after the other ranks while this rank's host may be blocked in a call of CUDA's: nobody else could
// tell kernels that the rank for which they wait has died.
#pragma once

#include <thread>

#include "fabric/control.hpp"
#include "tca/device/memory.hpp"

namespace tca::cuda {

class Watch {
 public:
  // `gone` is one word a rank, which becomes 1 once that rank is gone.
  Watch(const fabric::Control& control, device::Word* gone);

 private:
  std::jthread thread_;  // none in a world of one
};

}  // namespace tca::cuda
