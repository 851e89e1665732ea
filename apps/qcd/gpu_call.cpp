#include "qcd/gpu_call.hpp"

#include <fmt/format.h>

#include "tca/error.hpp"

namespace tca::qcd {

void cuda_ok(cudaError_t result, std::string_view what) {
  if (result == cudaSuccess) return;
  const Errc code = result == cudaErrorMemoryAllocation ? Errc::out_of_memory : Errc::device_failed;
  throw Error(
      code, fmt::format("{}: CUDA says {} ({})", what, cudaGetErrorString(result), cudaGetErrorName(result)));
}

}  // namespace tca::qcd
