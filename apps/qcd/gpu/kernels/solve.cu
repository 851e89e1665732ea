// The whole solve as one cooperative kernel.
#include <new>

#include "qcd/gpu/kernels/block.cuh"

namespace tca::qcd {
namespace {

// Two blocks on a multiprocessor alternate in waiting for memory, but leave a thread 128 registers, with
// which kernels in double spill 700 to 900 bytes. A single block leaves a thread all the registers that it
// wants, some 210. In double a single block is faster as long as each block has few chunks: on 2 and 4 H200s
// an iteration on 16^4 takes 75.4 and 43.7 us instead of 76.1 and 45.2, but on 32^4 1002 and 585 us instead
// of 928 and 516.
constexpr int blocks_a_multiprocessor(bool alone) { return alone ? 1 : 2; }
constexpr unsigned most_chunks_alone = 8;

// Runs a solve in every block. Only the first block takes part in the sums over all ranks. The others have no
// BlockTeam, because each stores the number of the team's last step when it is destroyed.
template <bool alone, class Run>
__device__ __forceinline__ void with_grid(const DeviceTeam& team, const SolveCall& call, uint4* shared,
                                          const Run& run) {
  __shared__ double totals[sum_count];
  alignas(BlockTeam) unsigned char place[sizeof(BlockTeam)];
  BlockTeam* const sums = blockIdx.x == 0 ? new (place) BlockTeam(team) : nullptr;
  GridBlock<alone> block(shared, totals, call.memory, team, sums);
  const Outcome outcome = run(block);
  if (blockIdx.x != 0) return;
  sums->~BlockTeam();
  if (threadIdx.x == 0) *call.outcome = outcome;
}

template <class T, int reals, bool alone>
__global__ void __launch_bounds__(block_threads, blocks_a_multiprocessor(alone))
    solve_kernel(const __grid_constant__ SolveFields<T> fields, const __grid_constant__ DeviceTeam team,
                 const __grid_constant__ SolveCall call) {
  extern __shared__ uint4 shared[];
  with_grid<alone>(team, call, shared, [&](GridBlock<alone>& block) {
    return solve_cg_in<T, reals>(block, fields, call.aim, call.history);
  });
}

template <int reals, bool alone>
__global__ void __launch_bounds__(block_threads, blocks_a_multiprocessor(alone))
    mixed_kernel(const __grid_constant__ SolveFields<float> fields,
                 const __grid_constant__ SolveFields<double> exact, const __grid_constant__ DeviceTeam team,
                 const __grid_constant__ SolveCall call) {
  extern __shared__ uint4 shared[];
  with_grid<alone>(team, call, shared, [&](GridBlock<alone>& block) {
    return solve_cg_mixed_in<reals>(block, fields, exact, call.aim, call.history);
  });
}

// `T` is the wider of the precisions for which the kernel has rooms.
template <class T, class Kernel>
cudaError_t launch(Kernel* kernel, void** arguments, unsigned blocks, cudaStream_t stream) {
  return cudaLaunchCooperativeKernel(reinterpret_cast<void*>(kernel), dim3(blocks), dim3(block_threads),
                                     arguments, sizeof(ChunkRoom<T>), stream);
}

// In single precision the same kernel is used for both: what a hop loads at once fits even if two blocks
// share a multiprocessor. The gain of loading links ahead there has not been measured.
template <class T, int reals>
auto* kernel_for(bool alone) {
  constexpr bool can_be = sizeof(T) == 8;
  return alone ? solve_kernel<T, reals, can_be> : solve_kernel<T, reals, false>;
}
template <int reals>
auto* mixed_kernel_for(bool alone) {
  return alone ? mixed_kernel<reals, true> : mixed_kernel<reals, false>;
}

template <class T, class Kernel>
cudaError_t blocks_at_once(Kernel* kernel, unsigned ranks, bool alone, unsigned& blocks) {
  int each = 0;
  cudaError_t result = give_room<T>(kernel);
  if (result == cudaSuccess)
    result =
        cudaOccupancyMaxActiveBlocksPerMultiprocessor(&each, kernel, block_threads, sizeof(ChunkRoom<T>));
  if (alone && each > 1) each = 1;
  blocks = multiprocessors() * static_cast<unsigned>(each) / ranks;
  return result;
}

}  // namespace

template <class T, int reals>
cudaError_t plan_solve(bool mixed, unsigned chunks, unsigned ranks, SolveCall& call) {
  for (const bool alone : {true, false}) {
    call.alone = alone;
    const cudaError_t result =
        mixed ? blocks_at_once<double>(mixed_kernel_for<reals>(alone), ranks, alone, call.blocks)
              : blocks_at_once<T>(kernel_for<T, reals>(alone), ranks, alone, call.blocks);
    if (result != cudaSuccess) return result;
    if (chunks <= (mixed ? 1 : most_chunks_alone) * call.blocks) break;
  }
  if (call.blocks > chunks) call.blocks = chunks;
  if (call.blocks > most_hop_blocks) call.blocks = most_hop_blocks;
  return cudaSuccess;
}

template <class T, int reals>
cudaError_t launch_solve(const SolveFields<T>& fields, const DeviceTeam& team, const SolveCall& call,
                         cudaStream_t stream) {
  void* arguments[] = {const_cast<SolveFields<T>*>(&fields), const_cast<DeviceTeam*>(&team),
                       const_cast<SolveCall*>(&call)};
  return launch<T>(kernel_for<T, reals>(call.alone), arguments, call.blocks, stream);
}

template <int reals>
cudaError_t launch_solve_mixed(const SolveFields<float>& fields, const SolveFields<double>& exact,
                               const DeviceTeam& team, const SolveCall& call, cudaStream_t stream) {
  void* arguments[] = {const_cast<SolveFields<float>*>(&fields), const_cast<SolveFields<double>*>(&exact),
                       const_cast<DeviceTeam*>(&team), const_cast<SolveCall*>(&call)};
  return launch<double>(mixed_kernel_for<reals>(call.alone), arguments, call.blocks, stream);
}

#define TCA_QCD_SOLVE(T, reals)                                                                           \
  template cudaError_t plan_solve<T, reals>(bool, unsigned, unsigned, SolveCall&);                        \
  template cudaError_t launch_solve<T, reals>(const SolveFields<T>&, const DeviceTeam&, const SolveCall&, \
                                              cudaStream_t)
TCA_QCD_SOLVE(float, 12);
TCA_QCD_SOLVE(float, 18);
TCA_QCD_SOLVE(double, 12);
TCA_QCD_SOLVE(double, 18);
#undef TCA_QCD_SOLVE
template cudaError_t launch_solve_mixed<12>(const SolveFields<float>&, const SolveFields<double>&,
                                            const DeviceTeam&, const SolveCall&, cudaStream_t);
template cudaError_t launch_solve_mixed<18>(const SolveFields<float>&, const SolveFields<double>&,
                                            const DeviceTeam&, const SolveCall&, cudaStream_t);

}  // namespace tca::qcd
