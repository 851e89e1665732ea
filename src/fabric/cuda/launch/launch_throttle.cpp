#include "fabric/cuda/launch/launch_throttle.hpp"

#include <chrono>

#include "fabric/cuda/call.hpp"

namespace tca::cuda {

void LaunchThrottle::keep(cudaStream_t stream) const {
  if (!gpu_is_shared_ || is_captured(stream)) return;
  // Ranks that begin 5 ms apart have never been seen to hang.
  const auto end = std::chrono::steady_clock::now() + std::chrono::milliseconds(20);
  while (state_of(stream) == cudaErrorNotReady && std::chrono::steady_clock::now() < end) {
  }
}

}  // namespace tca::cuda
