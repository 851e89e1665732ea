/// @file
/// Consecutive kernels on a stream may each be set up while the one before ends (programmatic dependent
/// launch). OpenTCA's kernels are launched in this way, and a program's own may be.
#pragma once

#include <cuda_runtime.h>

#include <cstddef>
#include <cstdint>

#include "tca/detail/language.hpp"

namespace tca {

/// How a kernel is launched. Blocks of an early one may start while the kernel before it on the stream
/// still runs, if there is room for them, the GPU has compute capability 9 and the kernel was compiled for
/// it.
///
/// Every thread of an early kernel must call `wait_for_previous_kernel`, before it loads what an earlier
/// kernel stores and before it stores what an earlier one loads: dependencies are not transitive, so the next
/// kernel is ordered after earlier ones only if this kernel waited for them.
///
/// A block that has started keeps its place on the GPU while it waits. So a kernel must not be early after
/// one that waits for another rank's kernel on the same GPU, which may need that place.
struct KernelGrid {
  dim3 blocks;
  dim3 threads;
  std::size_t shared_bytes = 0;  ///< dynamic shared memory of a block
  bool early = true;
};

namespace device {

// Returns whether `wait_for_previous_kernel` does anything in a kernel on the current GPU. It does nothing
// in code for less than compute capability 9, which a newer GPU also runs. The answer is kept, since asking
// takes a considerable part of a launch.
inline bool is_programmatic(const void* kernel) {
  struct Found {
    const void* kernel = nullptr;
    int gpu = -1;
    bool is_programmatic = false;
  };
  constexpr std::uintptr_t places = 16;
  thread_local Found found[places];
  int gpu = 0;
  cudaGetDevice(&gpu);
  Found& at = found[reinterpret_cast<std::uintptr_t>(kernel) / alignof(std::max_align_t) % places];
  if (at.kernel != kernel || at.gpu != gpu) {
    cudaFuncAttributes attributes{};
    if (cudaFuncGetAttributes(&attributes, kernel) != cudaSuccess) return false;
    at = {kernel, gpu, attributes.ptxVersion >= 90};
  }
  return at.is_programmatic;
}

}  // namespace device

/// Launches the kernel on a stream, and returns what CUDA says.
template <class... Parameters, class... Arguments>
cudaError_t launch_kernel(void (*kernel)(Parameters...), const KernelGrid& grid, cudaStream_t stream,
                          const Arguments&... arguments) {
  cudaLaunchAttribute early{};
  early.id = cudaLaunchAttributeProgrammaticStreamSerialization;
  early.val.programmaticStreamSerializationAllowed = 1;
  cudaLaunchConfig_t config{};
  config.gridDim = grid.blocks;
  config.blockDim = grid.threads;
  config.dynamicSmemBytes = grid.shared_bytes;
  config.stream = stream;
  config.attrs = &early;
  config.numAttrs = grid.early && device::is_programmatic(reinterpret_cast<const void*>(kernel)) ? 1 : 0;
  return cudaLaunchKernelEx(&config, kernel, arguments...);
}

/// Waits until everything that the kernels before this one have stored is there, and lets the next one
/// start.
__device__ inline void wait_for_previous_kernel() {
#if __CUDA_ARCH__ >= 900
  cudaGridDependencySynchronize();
  cudaTriggerProgrammaticLaunchCompletion();
#endif
}

}  // namespace tca
