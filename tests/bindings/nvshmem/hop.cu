#include <nvshmem.h>
#include <nvshmemx.h>

#include "hop.hpp"

namespace hop {
namespace {

constexpr unsigned blocks_a_face = 3, threads = 128;

// Stores a share of a face in the neighbour's memory. The block that is the last to do so says that the face is there.
__device__ void pack(const Arguments& a, unsigned side, unsigned share) {
  for (unsigned site = share * threads + threadIdx.x; site < sites; site += blocks_a_face * threads)
    a.there[side][site] = a.face + site;
  __threadfence_system();
  __syncthreads();
  if (threadIdx.x != 0 || atomicAdd_system(a.tickets + side, 1) != blocks_a_face - 1) return;
  __threadfence_system();
  a.tickets[side] = 0;
  nvshmemx_signal_op(a.arrived + (1 - side), a.step, NVSHMEM_SIGNAL_SET, a.neighbours[side]);
}

__device__ void look(const Arguments& a, unsigned side) {
  if (threadIdx.x == 0) nvshmem_signal_wait_until(a.arrived + side, NVSHMEM_CMP_GE, a.step);
  __syncthreads();
  const double face = 10000.0 * a.neighbours[side] + 1e6 * static_cast<double>(a.step);
  for (unsigned site = threadIdx.x; site < sites; site += threads)
    if (a.ghosts[side][site] != face + site) atomicAdd(a.wrong, 1);
}

__global__ void hop_kernel(const Arguments a) {
  const unsigned packing = faces * blocks_a_face;
  if (blockIdx.x < packing)
    pack(a, blockIdx.x / blocks_a_face, blockIdx.x % blocks_a_face);
  else
    look(a, blockIdx.x - packing);
}

}  // namespace

void launch(const Arguments& arguments) { hop_kernel<<<faces * blocks_a_face + faces, threads>>>(arguments); }

}  // namespace hop
