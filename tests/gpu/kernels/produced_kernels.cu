#include "produced_kernels.hpp"
#include "tca/produced.cuh"

namespace tca::test {
namespace {

__device__ Grain grain(unsigned rank, unsigned step, unsigned side, unsigned i) {
  Grain made;
  for (unsigned k = 0; k < 5; ++k) made.v[k] = ((rank * 1021 + step) * 2 + side) * 65537 + i * 5 + k;
  return made;
}

template <class Steps>
__device__ void write(const ProducedRing& ring, Steps& steps, unsigned side, unsigned i) {
  const auto& put = side == 0 ? ring.to_left : ring.to_right;
  const bool is_wrong = side == 0 && static_cast<int>(steps.step()) == ring.steps && i == ring.element;
  if (is_wrong && ring.mistake == device::Mistake::not_written) return;
  steps.write(put, i, grain(ring.rank, steps.step(), side, i));
  if (!is_wrong) return;
  if (ring.mistake == device::Mistake::twice) steps.write(put, i, grain(ring.rank, steps.step(), side, i));
  if (ring.mistake == device::Mistake::out_of_range) steps.write(put, put.elements + i, Grain{});
}

template <class Steps>
__device__ void read(const ProducedRing& ring, Steps& steps, unsigned side, unsigned i) {
  const unsigned from = (ring.rank + (side == 0 ? ring.size - 1 : 1)) % ring.size;
  Grain come;
  if (!steps.read(side == 0 ? ring.from_left : ring.from_right, i, come)) return;
  const Grain made = grain(from, steps.step(), 1 - side, i);
  for (unsigned k = 0; k < 5; ++k)
    if (come.v[k] != made.v[k]) atomicAdd(ring.wrong, 1u);
}

__global__ void blocks_kernel(const __grid_constant__ ProducedRing ring) {
  ProducedBlockChain steps(ring.chain);
  for (int n = 0; n < ring.steps; ++n) {
    steps.start();
    steps.for_own_elements(ring.to_left, [&](unsigned i) { write(ring, steps, 0, i); });
    steps.for_own_elements(ring.to_right, [&](unsigned i) { write(ring, steps, 1, i); });
    steps.for_own_elements(ring.from_right, [&](unsigned i) { read(ring, steps, 1, i); });
    steps.for_own_elements(ring.from_left, [&](unsigned i) { read(ring, steps, 0, i); });
    if (!steps.wait()) return;
  }
}

__global__ void grid_kernel(const __grid_constant__ ProducedRing ring) {
  ProducedGridChain steps(ring.chain);
  for (int n = 0; n < ring.steps; ++n) {
    steps.start();
    const unsigned first = (blockIdx.x + steps.step()) % gridDim.x * blockDim.x + threadIdx.x,
                   threads = gridDim.x * blockDim.x;
    for (unsigned i = first; i < ring.to_left.elements; i += threads) write(ring, steps, 0, i);
    for (unsigned i = first; i < ring.to_right.elements; i += threads) write(ring, steps, 1, i);
    for (unsigned i = first; i < ring.from_left.elements; i += threads) read(ring, steps, 0, i);
    for (unsigned i = first; i < ring.from_right.elements; i += threads) read(ring, steps, 1, i);
    if (!steps.wait()) return;
  }
}

cudaError_t launch(void (*kernel)(ProducedRing), const ProducedRing& ring, unsigned blocks,
                   cudaStream_t stream) {
  void* arguments[] = {const_cast<ProducedRing*>(&ring)};
  return cudaLaunchCooperativeKernel(reinterpret_cast<void*>(kernel), dim3(blocks), dim3(128), arguments, 0,
                                     stream);
}

}  // namespace

cudaError_t run_blocks(const ProducedRing& ring, unsigned blocks, cudaStream_t stream) {
  return launch(blocks_kernel, ring, blocks, stream);
}
cudaError_t run_grid(const ProducedRing& ring, unsigned blocks, cudaStream_t stream) {
  return launch(grid_kernel, ring, blocks, stream);
}

}  // namespace tca::test
