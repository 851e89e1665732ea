// Calls of CUDA's: what has failed is thrown.
#pragma once

#include <cuda_runtime.h>

#include <string>

#include "tca/error.hpp"

namespace tca::xacc {

inline void check(cudaError_t error, const std::string& what) {
  if (error == cudaSuccess) return;
  cudaGetLastError();
  const std::string message = what + ": " + cudaGetErrorString(error);
  throw Error(error == cudaErrorMemoryAllocation ? Errc::out_of_memory : Errc::device_failed, message);
}

}  // namespace tca::xacc
