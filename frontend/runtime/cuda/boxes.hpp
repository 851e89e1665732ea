// Copies between boxes of a GPU's memory.
#pragma once

#include <cuda_runtime.h>

#include <cstddef>
#include <vector>

#include "runtime/device.hpp"

namespace tca::xacc {

void copy_boxes(const std::vector<BoxCopy>& boxes, std::size_t element_bytes, cudaStream_t stream);

}  // namespace tca::xacc
