// Reliable updates between the iterations of a solve in single precision, as single kernels.
#include "qcd/gpu/kernels/block.cuh"

namespace tca::qcd {
namespace {

// Has one thread for each right-hand side. All must decide alike, so none decides before all have taken in
// their sums.
template <auto take_sums, auto decide>
__global__ void in_step_kernel(CgSteps* steps, const double* totals, const History history) {
  wait_for_previous_kernel();
  CgSteps& own = steps[threadIdx.x];
  take_sums(own, totals + threadIdx.x * sum_count);
  __syncthreads();
  const Progress progress = progress_of(steps, blockDim.x);
  __syncthreads();
  decide(own, progress, history.of(threadIdx.x));
}

__global__ void __launch_bounds__(block_threads)
    take_in_kernel(const __grid_constant__ SolveFields<float> searches,
                   const __grid_constant__ SolveFields<double> exacts,
                   const __grid_constant__ Crossing<double> crossing) {
  SiteBlock block(nullptr);
  wait_for_previous_kernel();
  const SolveFields<float> search = fields_of(searches, blockIdx.y);
  const SolveFields<double> exact = fields_of(exacts, blockIdx.y);
  pass<double>(block, exacts.ground, exacts.chunks[0], crossing, false, false, [&](Word place, Word four) {
    return take_in(search, exact, place, four, four_at(search.x, searches.ground.half(), place, four));
  });
}

__global__ void __launch_bounds__(block_threads)
    hand_over_kernel(const __grid_constant__ SolveFields<float> searches,
                     const __grid_constant__ SolveFields<double> exacts,
                     const __grid_constant__ Crossing<float> crossing) {
  SiteBlock block(nullptr);
  wait_for_previous_kernel();
  const SolveFields<float> search = fields_of(searches, blockIdx.y);
  const SolveFields<double> exact = fields_of(exacts, blockIdx.y);
  pass<float>(block, searches.ground, searches.chunks[0], crossing, false, true,
              [&](Word place, Word four) { return hand_over(search, exact, place, four); });
}

dim3 grid_of(const SolveFields<float>& search) {
  return dim3(hop_blocks(search.chunks[0].count), search.ground.rhs);
}

}  // namespace

cudaError_t launch_settle(CgSteps* steps, unsigned rhs, const double* totals, const History& history,
                          cudaStream_t stream) {
  return launch_kernel(in_step_kernel<propose, settle>, {1, rhs}, stream, steps, totals, history);
}

cudaError_t launch_go_on(CgSteps* steps, unsigned rhs, const double* totals, const History& history,
                         cudaStream_t stream) {
  return launch_kernel(in_step_kernel<renew, go_on>, {1, rhs}, stream, steps, totals, history);
}

cudaError_t launch_take_in(const SolveFields<float>& search, const SolveFields<double>& exact,
                           const Crossing<double>& crossing, cudaStream_t stream) {
  return launch_kernel(take_in_kernel, {grid_of(search), block_threads}, stream, search, exact, crossing);
}

cudaError_t launch_hand_over(const SolveFields<float>& search, const SolveFields<double>& exact,
                             const Crossing<float>& crossing, cudaStream_t stream) {
  return launch_kernel(hand_over_kernel, {grid_of(search), block_threads}, stream, search, exact, crossing);
}

}  // namespace tca::qcd
