// Kernels in a row on a stream, each set up while the one before it ends: programmatic dependent launch, in the one way that
// OpenTCA's kernels take it, and a program's own may.
#pragma once

#include <cuda_runtime.h>

#include <cstddef>

namespace tca {

// Early: blocks may start while the kernel before them on the stream still runs, where they find room, if the GPU has compute
// capability 9. Every thread of each calls `come_behind`, before it loads what an earlier kernel stores and before it stores
// what an earlier one loads; all threads, because the kernel behind waits for this one alone, and so for those in front of it
// only if this one has. A block that has started keeps its place while it waits. So none may be early where the kernel before
// waits for another rank's on the same GPU, which may need that place.
struct KernelGrid {
  dim3 blocks;
  dim3 threads;
  std::size_t shared_bytes = 0;  // that the kernel asks for at launch
  bool early = true;
};

// Returns what CUDA says.
template <class... Parameters, class... Arguments>
cudaError_t launch_kernel(void (*kernel)(Parameters...), const KernelGrid& grid, cudaStream_t stream,
                          const Arguments&... arguments) {
  static const bool can_be_early = [] {
    int device = 0, major = 0;
    cudaGetDevice(&device);
    cudaDeviceGetAttribute(&major, cudaDevAttrComputeCapabilityMajor, device);
    return major >= 9;
  }();
  cudaLaunchAttribute early{};
  early.id = cudaLaunchAttributeProgrammaticStreamSerialization;
  early.val.programmaticStreamSerializationAllowed = 1;
  cudaLaunchConfig_t config{};
  config.gridDim = grid.blocks;
  config.blockDim = grid.threads;
  config.dynamicSmemBytes = grid.shared_bytes;
  config.stream = stream;
  config.attrs = &early;
  config.numAttrs = grid.early && can_be_early ? 1 : 0;
  return cudaLaunchKernelEx(&config, kernel, arguments...);
}

// What kernels before this one have stored is there; the one behind it may start.
__device__ inline void come_behind() {
#if __CUDA_ARCH__ >= 900
  cudaGridDependencySynchronize();
  cudaTriggerProgrammaticLaunchCompletion();
#endif
}

}  // namespace tca
