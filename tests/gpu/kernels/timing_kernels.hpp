// Kernels that run steps of a chain, with or without taking the times of its messages.
#pragma once

#include <cuda_runtime.h>

#include "tca/device/times.hpp"

namespace tca::test {

// Before each start the kernel lets `pause_ns` pass. One block, or a cooperative grid of several.
cudaError_t run_timed(const DeviceTimedChain& chain, int steps, unsigned pause_ns, unsigned blocks,
                      cudaStream_t stream);
cudaError_t run_untimed(const DeviceChain& chain, int steps, cudaStream_t stream);

// Leaves in `step_ns`, in pinned memory, the least by which the clock of the times goes on.
cudaError_t measure_clock(std::uint64_t* step_ns, cudaStream_t stream);

}  // namespace tca::test
