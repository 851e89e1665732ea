#include "counted_kernels.hpp"
#include "tca/chain.cuh"

namespace tca::test {
namespace {

__device__ int value(unsigned rank, unsigned step, unsigned i) {
  return static_cast<int>((rank * 4096 + step) % 65536 * 8192 + i % 8192);
}

__device__ void write(const CountedRing& ring, unsigned step, unsigned first, unsigned threads) {
  for (unsigned i = first; i < ring.room; i += threads) ring.source[i] = value(ring.rank, step, i);
}

// What has come is taken out again.
__device__ void check(const CountedRing& ring, unsigned step, unsigned first, unsigned threads) {
  const unsigned left = (ring.rank + ring.size - 1) % ring.size;
  const unsigned come = ring.from_left.count();
  if (first == 0 && come != counted_length(left, step, ring.room)) atomicAdd_system(ring.wrong, 1u);
  for (unsigned i = first; i < ring.room; i += threads) {
    if (ring.target[i] != (i < come ? value(left, step, i) : -1)) atomicAdd_system(ring.wrong, 1u);
    ring.target[i] = -1;
  }
}

__device__ unsigned length_of(const CountedRing& ring, unsigned step, bool is_last) {
  return counted_length(ring.rank, step, ring.room) + (is_last ? ring.excess : 0);
}

__global__ void block_kernel(const __grid_constant__ CountedRing ring) {
  BlockChain chain(ring.chain);
  for (int n = 1; n <= ring.steps; ++n) {
    const unsigned step = chain.step() + 1;
    write(ring, step, threadIdx.x, blockDim.x);
    if (threadIdx.x == 0) ring.to_right.set(length_of(ring, step, n == ring.steps));
    chain.start();
    if (!chain.wait()) return;
    check(ring, step, threadIdx.x, blockDim.x);
  }
}

__global__ void grid_kernel(const __grid_constant__ CountedRing ring) {
  GridChain chain(ring.chain);
  const unsigned threads = gridDim.x * blockDim.x;
  for (int n = 1; n <= ring.steps; ++n) {
    const unsigned step = chain.step() + 1;
    const unsigned first = (blockIdx.x + step) % gridDim.x * blockDim.x + threadIdx.x;
    write(ring, step, first, threads);
    if (first == 0) ring.to_right.set(length_of(ring, step, n == ring.steps));
    chain.start();
    if (!chain.wait()) return;
    check(ring, step, first, threads);
  }
}

__global__ void write_kernel(const __grid_constant__ CountedRing ring, const unsigned* step,
                             bool sets_length) {
  write(ring, *step, threadIdx.x, blockDim.x);
  if (sets_length && threadIdx.x == 0) ring.to_right.set(counted_length(ring.rank, *step, ring.room));
}

__global__ void check_kernel(const __grid_constant__ CountedRing ring, unsigned* step) {
  check(ring, *step, threadIdx.x, blockDim.x);
  __syncthreads();
  if (threadIdx.x == 0) ++*step;
}

}  // namespace

cudaError_t run_block(const CountedRing& ring, cudaStream_t stream) {
  block_kernel<<<1, 128, 0, stream>>>(ring);
  return cudaGetLastError();
}

cudaError_t run_grid(const CountedRing& ring, unsigned blocks, cudaStream_t stream) {
  void* arguments[] = {const_cast<CountedRing*>(&ring)};
  return cudaLaunchCooperativeKernel(reinterpret_cast<void*>(grid_kernel), dim3(blocks), dim3(128), arguments,
                                     0, stream);
}

void write_counted(const CountedRing& ring, const unsigned* step, bool sets_length, cudaStream_t stream) {
  write_kernel<<<1, 128, 0, stream>>>(ring, step, sets_length);
}

void check_counted(const CountedRing& ring, unsigned* step, cudaStream_t stream) {
  check_kernel<<<1, 128, 0, stream>>>(ring, step);
}

}  // namespace tca::test
