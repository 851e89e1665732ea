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
  value = threadIdx.x < blockDim.x / warpSize ? of_warps[threadIdx.x] : 0;
  over_warp();
  return value;
}

__device__ inline double plus(double a, double b) { return a + b; }
__device__ inline double larger(double a, double b) { return a > b ? a : b; }

// `tempered` replicas have energies of their own.
__device__ inline Sums over_block(const Sums& mine, Word tempered) {
  Sums sums;
  sums.energy = over_block(mine.energy, plus);
  sums.alike = over_block(mine.alike, plus);
  sums.shared = over_block(mine.shared, plus);
  for (Word replica = 0; replica < tempered; ++replica)
    sums.energies[replica] = over_block(mine.energies[replica], plus);
  sums.off_unit = over_block(mine.off_unit, larger);
  return sums;
}

// Adds the bonds that begin at a cell, in all replicas.
template <class Real>
__device__ void add_bonds(const Sites<Real>& sites, Word colour, const Cell& cell, Sums& sums) {
  const Word odd = sites.odd(colour, cell), own = sites.index(cell);
  for (int n = next_x; n < neighbours; n += 2) {
    const Word at = sites.neighbour(cell, odd, n);
    const auto coupling = static_cast<double>(sites.couplings[colour][dim_of(n)][own]);
    double sum = 0, squares = 0;  // of S.S' over the replicas
    for (Word replica = 0; replica < sites.replicas; ++replica) {
      const double along = dot(in<double>(load(sites.of_replica(colour, replica) + own, sites.elements)),
                               in<double>(load(sites.of_replica(1 - colour, replica) + at, sites.elements)));
      const double energy = -coupling * along;
      sum += along;
      squares += along * along;
      sums.energy += energy;
      if (sites.tempered != 0) sums.energies[replica] += coarse(energy);
    }
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
__device__ Sums share_of_bonds(const Sites<Real>& sites, const Cells& cells) {
  Sums sums;
  for (Word n = blockIdx.x * blockDim.x + threadIdx.x; n < cells.all; n += gridDim.x * blockDim.x) {
    const Cell cell = cells[n];
    if (cell.replica != 0) continue;
    for (Word colour = 0; colour < 2; ++colour) add_bonds(sites, colour, cell, sums);
  }
  return sums;
}

}  // namespace tca::spin
