// Keeps the host to one step at a time on a stream, where ranks that are threads share a GPU.
//
// A launch that must wait for the kernel before it can stand in the way of other streams' kernels for as long
// as that one runs; if it waits for a rank on the same GPU, for good. Measurements are in docs/gpu.md,
// "Where ranks share a GPU": two threads that began within microseconds of each other stood still in two of
// three tries, and in none of 846 when nothing was launched behind a kernel until it was over.
#pragma once

#include <cuda_runtime.h>

namespace tca::cuda {

class Pace {
 public:
  explicit Pace(bool gpu_is_shared) : gpu_is_shared_(gpu_is_shared) {}

  // Called behind a kernel that waits for other ranks. Returns when the stream is idle, but after 20 ms in
  // any case, since the ranks' threads may come to their streams in different orders; while the stream is
  // captured it returns at once.
  void keep(cudaStream_t stream) const;

 private:
  bool gpu_is_shared_;
};

}  // namespace tca::cuda
