// The stencil on a GPU: each thread updates one cell, and a warp lies along k.
#pragma once

#include "himeno/gpu/kernels.hpp"
#include "himeno/problem.hpp"

namespace tca::himeno {

// What the update of a cell reads: its coefficients, and the pressure around it, indexed by the step (plus
// one) along i, j and k.
struct Cell {
  float of[coefficient_count];
  float p[3][3][3];  // without the eight corners
};

// load(n) returns the n-th group of four coefficients.
template <class Load>
__device__ __forceinline__ void load_coefficients(Cell& cell, const Load& load) {
#pragma unroll
  for (unsigned quad = 0; quad < TaskCoefficients::quads; ++quad) {
    const float4 four = load(quad);
    float* const to = cell.of + 4 * quad;
    to[0] = four.x, to[1] = four.y, to[2] = four.z, to[3] = four.w;
  }
}

// Plain loads: other blocks and other GPUs change the pressure, so it must not come through the read-only
// path.
__device__ inline void load_pressure(Cell& cell, const float* pressure, Word at, Word plane, Word row) {
#pragma unroll
  for (int i = -1; i <= 1; ++i) {
#pragma unroll
    for (int j = -1; j <= 1; ++j) {
      const float* const p = pressure + at + i * static_cast<int>(plane) + j * static_cast<int>(row);
#pragma unroll
      for (int k = -1; k <= 1; ++k) {
        if (i * j * k == 0) cell.p[i + 1][j + 1][k + 1] = p[k];
      }
    }
  }
}

// Returns the change of a cell's pressure. The operations and their order are those of the serial code, and
// this is compiled without fused multiply-adds, so that the answers agree to the bit.
__device__ inline float change_of(const Cell& cell) {
  const auto p = [&](int i, int j, int k) { return cell.p[i + 1][j + 1][k + 1]; };
  const auto& m = cell.of;
  const float s0 = m[a0] * p(1, 0, 0) + m[a1] * p(0, 1, 0) + m[a2] * p(0, 0, 1) +
                   m[b0] * (p(1, 1, 0) - p(1, -1, 0) - p(-1, 1, 0) + p(-1, -1, 0)) +
                   m[b1] * (p(0, 1, 1) - p(0, -1, 1) - p(0, 1, -1) + p(0, -1, -1)) +
                   m[b2] * (p(1, 0, 1) - p(-1, 0, 1) - p(1, 0, -1) + p(-1, 0, -1)) + m[c0] * p(-1, 0, 0) +
                   m[c1] * p(0, -1, 0) + m[c2] * p(0, 0, -1) + m[wrk1];
  return (s0 * m[a3] - p(0, 0, 0)) * m[bnd];
}

// Returns the calling block's share of the tasks. They are contiguous, so that rows which several of them
// read come from the multiprocessor's own cache.
__device__ inline Tasks share_of_block(Tasks tasks) {
  const std::uint64_t count = tasks.count();
  return {tasks.begin + static_cast<Word>(count * blockIdx.x / gridDim.x),
          tasks.begin + static_cast<Word>(count * (blockIdx.x + 1) / gridDim.x)};
}

// Writes a cell's new pressure and returns its squared change. The square is in double because the sum over
// all cells loses its digits in single precision. A thread without a cell of its own passes another cell's
// pressure with coefficients of 0 and `writes` false; its result is 0.
__device__ inline double update(const Cell& cell, float* next, bool writes = true) {
  const float change = change_of(cell);
  if (writes) *next = cell.p[1][1][1] + omega * change;
  return static_cast<double>(change) * static_cast<double>(change);
}

// Returns the sum of all threads' values on thread 0. Blocks have a multiple of 32 threads.
__device__ inline double block_sum(double value) {
  __shared__ double of_warps[32];
  for (int distance = warpSize / 2; distance > 0; distance /= 2) {
    value += __shfl_down_sync(~0u, value, distance);
  }
  if (threadIdx.x % warpSize == 0) of_warps[threadIdx.x / warpSize] = value;
  __syncthreads();
  if (threadIdx.x >= warpSize) return 0;
  value = threadIdx.x < blockDim.x / warpSize ? of_warps[threadIdx.x] : 0;
  for (int distance = warpSize / 2; distance > 0; distance /= 2) {
    value += __shfl_down_sync(~0u, value, distance);
  }
  return value;
}

}  // namespace tca::himeno
