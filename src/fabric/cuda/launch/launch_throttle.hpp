// Keeps the host to one step at a time on a stream, if ranks that are threads share a GPU.
//
// A launch that must wait for the kernel before it can block other streams' kernels for as long as that
// kernel runs. If the kernel waits for a rank on the same GPU, it blocks them for good. Measurements are in
// docs/gpu.md, "Where ranks share a GPU": two threads that began within microseconds of each other hung in
// two of three tries, and in none of 846 if nothing was launched after a kernel until it was over.
#pragma once

#include <cuda_runtime.h>

namespace tca::cuda {

class LaunchThrottle {
 public:
  explicit LaunchThrottle(bool gpu_is_shared) : gpu_is_shared_(gpu_is_shared) {}

  // Called after launching a kernel that waits for other ranks; returns when the stream is idle. It returns
  // after 20 ms in any case, since the ranks' threads may get to their streams in different orders, and at
  // once while the stream is captured.
  void keep(cudaStream_t stream) const;

 private:
  bool gpu_is_shared_;
};

}  // namespace tca::cuda
