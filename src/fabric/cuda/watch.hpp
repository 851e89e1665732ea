// Whether the other ranks are still there, looked at while this rank's host may be blocked in a call of CUDA's: nobody else
// could tell the kernels that wait for a rank which has died.
#pragma once

#include <thread>

#include "fabric/control.hpp"
#include "tca/device/memory.hpp"

namespace tca::cuda {

class Watch {
 public:
  // `gone`: a word a rank, which becomes 1.
  Watch(const fabric::Control& control, device::Word* gone);

 private:
  std::jthread thread_;  // none in a world of one
};

}  // namespace tca::cuda
