// Turns failed CUDA calls into test failures.
#pragma once

#include <cuda_runtime.h>

#include "ranks.hpp"

namespace tca::test {

inline void ok(cudaError_t result) { require(result == cudaSuccess, "CUDA: {}", cudaGetErrorString(result)); }

}  // namespace tca::test
