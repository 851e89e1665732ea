// The vector operations of BiCGStab. Each kernel does all that is possible in one pass.
#include <algorithm>

#include "qcd/gpu/kernels/block.cuh"

namespace tca::qcd {
namespace {

constexpr unsigned blocks_a_multiprocessor = 8;

// Calls act(fields, i) for each number of the vectors, for the right-hand side that is the block's row of the
// grid.
template <class T, class Do>
__device__ __forceinline__ void for_numbers(const SolveFields<T>& all, const Do& act) {
  const SolveFields<T> f = fields_of(all, blockIdx.y);
  for (Word i = blockIdx.x * block_threads + threadIdx.x; i < numbers_of(f); i += gridDim.x * block_threads)
    act(f, i);
}

template <class T>
__global__ void __launch_bounds__(block_threads)
    first_direction_kernel(const __grid_constant__ SolveFields<T> all) {
  wait_for_previous_kernel();
  for_numbers(all, [&](const SolveFields<T>& f, Word i) { first_direction(f, i); });
}

template <class T>
__global__ void __launch_bounds__(block_threads)
    overlap_kernel(const __grid_constant__ SolveFields<T> all, double* partials) {
  wait_for_previous_kernel();
  double sums[overlap_sum_count] = {};
  for_numbers(all, [&](const SolveFields<T>& f, Word i) { add_overlap(f, i, sums); });
  store_share(sums, partials);
}

template <class T>
__global__ void __launch_bounds__(block_threads)
    residual_kernel(const __grid_constant__ SolveFields<T> all, double* partials) {
  wait_for_previous_kernel();
  double sums[residual_sum_count] = {};
  for_numbers(all, [&](const SolveFields<T>& f, Word i) { add_residual(f, i, sums); });
  store_share(sums, partials);
}

template <class T>
__global__ void __launch_bounds__(block_threads)
    half_step_kernel(const __grid_constant__ SolveFields<T> all, const BicgstabSteps* steps) {
  wait_for_previous_kernel();
  if (!steps[blockIdx.y].moves) return;
  const BicgstabSteps now = steps[blockIdx.y];
  for_numbers(all, [&](const SolveFields<T>& f, Word i) { half_step(f, now, i); });
}

template <class T>
__global__ void __launch_bounds__(block_threads)
    whole_step_kernel(const __grid_constant__ SolveFields<T> all, const BicgstabSteps* steps) {
  wait_for_previous_kernel();
  if (!steps[blockIdx.y].moves) return;
  const BicgstabSteps now = steps[blockIdx.y];
  for_numbers(all, [&](const SolveFields<T>& f, Word i) { whole_step(f, now, i); });
}

__global__ void begin_kernel(BicgstabSteps* steps, const double* totals) {
  wait_for_previous_kernel();
  begin(steps[threadIdx.x], totals + threadIdx.x * sum_count);
}
__global__ void decide_half_kernel(BicgstabSteps* steps, const double* totals) {
  wait_for_previous_kernel();
  decide_half(steps[threadIdx.x], totals + threadIdx.x * overlap_sum_count);
}
__global__ void decide_kernel(BicgstabSteps* steps, const double* totals, const History history) {
  wait_for_previous_kernel();
  decide(steps[threadIdx.x], totals + threadIdx.x * residual_sum_count, history.of(threadIdx.x));
}

template <class T, class Kernel, class... Others>
cudaError_t launch(Kernel* kernel, cudaStream_t stream, const SolveFields<T>& f, Others... others) {
  const dim3 grid(vector_blocks(numbers_of(f)), f.ground.rhs);
  return launch_kernel(kernel, {grid, block_threads}, stream, f, others...);
}

}  // namespace

unsigned vector_blocks(Word numbers) {
  static const unsigned at_once = multiprocessors() * blocks_a_multiprocessor;
  return std::min({(numbers + block_threads - 1) / block_threads, at_once, most_hop_blocks});
}

template <class T>
cudaError_t launch_first_direction(const SolveFields<T>& f, cudaStream_t stream) {
  return launch(first_direction_kernel<T>, stream, f);
}
template <class T>
cudaError_t launch_overlap(const SolveFields<T>& f, double* partials, cudaStream_t stream) {
  return launch(overlap_kernel<T>, stream, f, partials);
}
template <class T>
cudaError_t launch_half_step(const SolveFields<T>& f, const BicgstabSteps* steps, cudaStream_t stream) {
  return launch(half_step_kernel<T>, stream, f, steps);
}
template <class T>
cudaError_t launch_residual(const SolveFields<T>& f, double* partials, cudaStream_t stream) {
  return launch(residual_kernel<T>, stream, f, partials);
}
template <class T>
cudaError_t launch_whole_step(const SolveFields<T>& f, const BicgstabSteps* steps, cudaStream_t stream) {
  return launch(whole_step_kernel<T>, stream, f, steps);
}

#define TCA_QCD_BICGSTAB(T)                                                                            \
  template cudaError_t launch_first_direction<T>(const SolveFields<T>&, cudaStream_t);                 \
  template cudaError_t launch_overlap<T>(const SolveFields<T>&, double*, cudaStream_t);                \
  template cudaError_t launch_half_step<T>(const SolveFields<T>&, const BicgstabSteps*, cudaStream_t); \
  template cudaError_t launch_residual<T>(const SolveFields<T>&, double*, cudaStream_t);               \
  template cudaError_t launch_whole_step<T>(const SolveFields<T>&, const BicgstabSteps*, cudaStream_t)
TCA_QCD_BICGSTAB(float);
TCA_QCD_BICGSTAB(double);
#undef TCA_QCD_BICGSTAB

cudaError_t launch_begin(BicgstabSteps* steps, unsigned rhs, const double* totals, cudaStream_t stream) {
  return launch_kernel(begin_kernel, {1, rhs}, stream, steps, totals);
}
cudaError_t launch_decide_half(BicgstabSteps* steps, unsigned rhs, const double* totals,
                               cudaStream_t stream) {
  return launch_kernel(decide_half_kernel, {1, rhs}, stream, steps, totals);
}
cudaError_t launch_decide(BicgstabSteps* steps, unsigned rhs, const double* totals, const History& history,
                          cudaStream_t stream) {
  return launch_kernel(decide_kernel, {1, rhs}, stream, steps, totals, history);
}

}  // namespace tca::qcd
