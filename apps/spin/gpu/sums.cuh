// Sums over bonds on a GPU.
#pragma once

#include "spin/gpu/kernels.hpp"

namespace tca::spin {

// Returns the combination of all threads' values on thread 0. Blocks have a multiple of 32 threads.
template <class Combine>
__device__ double over_block(double value, const Combine& combine) {
  __shared__ double of_warps[32];
  const auto over_warp = [&] {
    for (int distance = warpSize / 2; distance > 0; distance /= 2)
      value = combine(value, __shfl_down_sync(~0u, value, distance));
  };
  __syncthreads();  // the values of the call before have been read
  over_warp();
  if (threadIdx.x % warpSize == 0) of_warps[threadIdx.x / warpSize] = value;
  __syncthreads();
  if (threadIdx.x >= warpSize) return 0;
  value =
      threadIdx.x < blockDim.x / warpSize ? of_warps[threadIdx.x] : 0;  // no sum or maximum here is below 0's
  over_warp();
  return value;
}

__device__ inline double plus(double a, double b) { return a + b; }
__device__ inline double larger(double a, double b) { return a > b ? a : b; }

__device__ inline Found over_block(const Found& mine) {
  return {over_block(mine.energy, plus), over_block(mine.alike, plus), over_block(mine.shared, plus),
          over_block(mine.off_unit, larger)};
}

// Adds the bonds that begin at a cell, in all replicas.
template <class Real>
__device__ void add_bonds(const Sites<Real>& sites, Word colour, Cell cell, Found& sums) {
  const Word odd = sites.odd(colour, cell), own = sites.index(cell);
  for (int n = next_x; n < neighbours; n += 2) {
    const Word at = sites.neighbour(cell, odd, n);
    const auto coupling = static_cast<double>(sites.couplings[colour][dim_of(n)][own]);
    double sum = 0, squares = 0;  // of S.S' over the replicas
    for (Word replica = 0; replica < sites.replicas; ++replica) {
      const double along = dot(in<double>(load(sites.of_replica(colour, replica) + own, sites.elements)),
                               in<double>(load(sites.of_replica(1 - colour, replica) + at, sites.elements)));
      sum += along;
      squares += along * along;
    }
    sums.energy -= coupling * sum;
    sums.alike += squares;
    sums.shared += (sum * sum - squares) / 2;
  }
  for (Word replica = 0; replica < sites.replicas; ++replica) {
    const auto spin = in<double>(load(sites.of_replica(colour, replica) + own, sites.elements));
    const double off = dot(spin, spin) - 1;
    sums.off_unit = larger(sums.off_unit, off < 0 ? -off : off);
  }
}

// The calling thread's share of all bonds.
template <class Real>
__device__ Found share_of_bonds(const Sites<Real>& sites, const Cells& cells) {
  Found sums{};
  for (Word n = blockIdx.x * blockDim.x + threadIdx.x; n < cells.all; n += gridDim.x * blockDim.x) {
    const Cell cell = cells[n];
    if (cell.replica != 0) continue;
    for (Word colour = 0; colour < 2; ++colour) add_bonds(sites, colour, cell, sums);
  }
  return sums;
}

}  // namespace tca::spin
