#include "gpu/kernels/compute_kernels.hpp"

namespace tca::bench::gpu {

namespace {

__device__ float4 next(float4 v) {
  constexpr float less = 0.75F, more = 0.5F;
  return {v.x * less + more, v.y * less + more, v.z * less + more, v.w * less + more};
}

__global__ void __launch_bounds__(Computation::threads) arithmetic_kernel(Computation c) {
  constexpr unsigned a_turn = 8;
  const std::size_t i = blockIdx.x * std::size_t{blockDim.x} + threadIdx.x;
  float4 value = c.data[i];
  for (unsigned turn = 0; turn < c.turns * a_turn; ++turn) value = next(value);
  c.data[i] = value;
}

__global__ void __launch_bounds__(Computation::threads) memory_kernel(Computation c) {
  const std::size_t a_turn = std::size_t{gridDim.x} * blockDim.x;
  std::size_t i = blockIdx.x * std::size_t{blockDim.x} + threadIdx.x;
  for (unsigned turn = 0; turn < c.turns; ++turn) {
    c.data[i] = next(c.data[i]);
    i += a_turn;
    if (i >= c.elements) i %= a_turn;
  }
}

}  // namespace

void compute(const Computation& computation, cudaStream_t stream) {
  const auto kernel = computation.kind == Computation::arithmetic ? arithmetic_kernel : memory_kernel;
  kernel<<<computation.blocks, Computation::threads, 0, stream>>>(computation);
}

}  // namespace tca::bench::gpu
