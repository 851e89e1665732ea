// Launching a kernel on a stream.
#pragma once

#include "fabric/cuda/kernels.hpp"

namespace tca::cuda {

// Where the GPU can, the kernel is set up while the one before it on the stream still runs, which halves what a kernel in
// a row of them costs.
template <class... Parameters, class... Arguments>
void launch(const char* what, void (*kernel)(Parameters...), Grid grid, cudaStream_t stream,
            const Arguments&... arguments) {
  cudaLaunchAttribute early{};
  early.id = cudaLaunchAttributeProgrammaticStreamSerialization;
  early.val.programmaticStreamSerializationAllowed = 1;
  cudaLaunchConfig_t config{};
  config.gridDim = grid.blocks;
  config.blockDim = grid.threads;
  config.stream = stream;
  config.attrs = &early;
  config.numAttrs = grid.early ? 1 : 0;
  check(cudaLaunchKernelEx(&config, kernel, arguments...), what);
}

}  // namespace tca::cuda
