// Packs the boxes of an array into a buffer of messages, and unpacks them, with one kernel each.
#pragma once

#include <cuda_runtime.h>

#include "tca/device/walk.hpp"

namespace tca::himeno {

// One box of the array and its place in the buffer.
struct Packed {
  device::Divisor cells;   // along k
  device::Divisor width;   // rows along j
  device::Word first = 0;  // element of the array at which it begins
  device::Word end = 0;    // one past its last element in the buffer
};

struct Packing {
  static constexpr device::Word most = 26;  // neighbours of a box in three dimensions
  Packed boxes[most];
  device::Word count = 0;
  device::Word plane = 0, row = 0;  // distance in elements to the next cell along i and along j

  device::Word elements() const { return count == 0 ? 0 : boxes[count - 1].end; }
};

cudaError_t launch_pack(const Packing& packing, const float* array, float* buffer, cudaStream_t stream);
cudaError_t launch_unpack(const Packing& packing, float* array, const float* buffer, cudaStream_t stream);

}  // namespace tca::himeno
