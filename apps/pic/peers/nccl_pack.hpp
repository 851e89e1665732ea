// Packs nodes of an array into a buffer, and unpacks or adds them, with one kernel each.
#pragma once

#include <cuda_runtime.h>

#include <cstdint>

#include "pic/vec.hpp"

namespace tca::pic {

// So many nodes, which lie in this order in a buffer, and where the first of them does.
struct Nodes {
  const std::int32_t* index;
  std::int32_t begin;
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
