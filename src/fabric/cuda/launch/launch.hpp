// Launches a kernel on a stream and checks for errors.
#pragma once

#include "fabric/cuda/kernels.hpp"
#include "tca/launch.cuh"

namespace tca::cuda {

template <class... Parameters, class... Arguments>
void launch(const char* what, void (*kernel)(Parameters...), Grid grid, cudaStream_t stream,
            const Arguments&... arguments) {
  check(launch_kernel(kernel, {grid.blocks, grid.threads}, stream, arguments...), what);
}

}  // namespace tca::cuda
