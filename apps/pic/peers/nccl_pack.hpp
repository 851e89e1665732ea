// Packs nodes of an array into a buffer, and unpacks or adds them, with one kernel each.
#pragma once

#include <cuda_runtime.h>

#include <cstdint>

#include "pic/vec.hpp"

namespace tca::pic {

// So many nodes, in this order, and where each lies in a buffer.
struct Nodes {
  const std::int32_t *index, *place;
  unsigned count;
};

template <class Number>
cudaError_t launch_pack(const Nodes& nodes, const Vec<Number>* array, Vec<Number>* buffer,
                        cudaStream_t stream);
template <class Number>
cudaError_t launch_unpack(const Nodes& nodes, const Vec<Number>* buffer, Vec<Number>* array,
                          cudaStream_t stream);
// A node may be there several times.
template <class Number>
cudaError_t launch_add(const Nodes& nodes, const Vec<Number>* buffer, Vec<Number>* array,
                       cudaStream_t stream);

}  // namespace tca::pic
