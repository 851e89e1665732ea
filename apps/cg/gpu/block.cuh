// A block of threads that multiplies a tile and adds up.
#pragma once

#include "cg/gpu/tiles.hpp"

namespace tca::cg {

// The operand, at the beginning of a block's shared memory.
__device__ __forceinline__ double* shared_operand() {
  extern __shared__ double operand[];
  return operand;
}

// Returns a lane's share of a slice, whose first element for it is at `value` and `column`. All elements of
// several steps are under way before the first of them is used, at the end of a slice as well.
template <Word in_flight, class Load>
__device__ __forceinline__ double share_of_slice(Word width, const double* value, const std::uint16_t* column,
                                                 const Load& load) {
  double sum = 0;
  for (Word first = 0; first < width; first += in_flight) {
    double factor[in_flight];
    Word at[in_flight];
#pragma unroll
    for (Word k = 0; k < in_flight; ++k) {
      const bool is_there = first + k < width;  // the same on all lanes
      factor[k] = is_there ? load(value + k * step_elements) : 0;
      at[k] = is_there ? Word{load(column + k * step_elements)} : 0;
    }
    // Keeps the compiler from using the first elements before it asks for the last.
    asm volatile("" ::: "memory");
#pragma unroll
    for (Word k = 0; k < in_flight; ++k) sum += factor[k] * shared_operand()[at[k]];
    value += in_flight * step_elements;
    column += in_flight * step_elements;
  }
  return sum;
}

// The same of a slice in device memory.
__device__ __forceinline__ double share_of_slice(const TileArrays& matrix, std::uint64_t first_step,
                                                 Word width) {
  constexpr Word in_flight = 8;
  const std::uint64_t begin = first_step * step_elements + threadIdx.x % step_elements;
  return share_of_slice<in_flight>(width, matrix.value + begin, matrix.column + begin,
                                   [](const auto* from) { return __ldcg(from); });
}

// Stores what the lanes of each row have added up.
__device__ __forceinline__ void store_rows(double sum, const Tiling& tiling, const Word* row_of,
                                           double* out) {
  const Word lane = threadIdx.x % step_elements;
  for (Word distance = tiling.row_lanes / 2; distance > 0; distance /= 2)
    sum += __shfl_xor_sync(~0u, sum, distance);
  if (lane % tiling.row_lanes != 0) return;
  const Word row = row_of[lane / tiling.row_lanes];
  if (row != no_row) out[row] = sum;
}

// The sums of all threads' values, on every thread, in an order that depends on their number alone.
// `between_warps` is one of two arrays that take turns, so that none is written while it is still read.
template <Word count>
__device__ __forceinline__ bool add_up_block(double (&values)[count], bool good,
                                             double (*between_warps)[tile_warps]) {
  const Word lane = threadIdx.x % step_elements, warp = threadIdx.x / step_elements;
#pragma unroll
  for (Word v = 0; v < count; ++v) {
#pragma unroll
    for (Word distance = step_elements / 2; distance > 0; distance /= 2)
      values[v] += __shfl_xor_sync(~0u, values[v], distance);
    if (lane == 0) between_warps[v][warp] = values[v];
  }
  good = __syncthreads_and(good) != 0;
#pragma unroll
  for (Word v = 0; v < count; ++v) {
    values[v] = between_warps[v][lane % tile_warps];
#pragma unroll
    for (Word distance = tile_warps / 2; distance > 0; distance /= 2)
      values[v] += __shfl_xor_sync(~0u, values[v], distance);
  }
  return good;
}

}  // namespace tca::cg
