// The steps of a solve as single kernels, for the host and for CUDA graphs.
#include <algorithm>

#include "qcd/gpu/kernels/block.cuh"

namespace tca::qcd {
namespace {

constexpr unsigned blocks_a_multiprocessor = 2;

template <class T, class Block, class Hop>
__device__ void run(Block& block, Hop& hop, const Stage<T>& stage, const Crossing<T>& crossing, Word rhs,
                    double* partials) {
  wait_for_previous_kernel();
  const Word exchange = begin_exchange(block, crossing, !stage.to_odd);
  hop.run(WindowGhosts<T>{crossing, exchange}, WindowSink<T>{crossing, rhs});
  if (stage.tally != Tally::none) block.store_sums(partials);
}

template <class T, int reals>
__global__ void __launch_bounds__(block_threads, blocks_a_multiprocessor)
    hop_kernel(const __grid_constant__ Ground<T> ground, const __grid_constant__ Stage<T> stage,
               const __grid_constant__ Chunks chunks, const __grid_constant__ Crossing<T> crossing,
               double* partials) {
  extern __shared__ uint4 shared[];
  SiteBlock block(shared);
  Hop<T, reals, SiteBlock> hop(block, ground, stage, chunks);
  run(block, hop, stage, crossing, 1, partials);
}

// The same for several right-hand sides. It loads each link once for all of them.
template <class T, int reals>
__global__ void __launch_bounds__(block_threads, blocks_a_multiprocessor)
    together_kernel(const __grid_constant__ Ground<T> ground, const __grid_constant__ Stage<T> stage,
                    const __grid_constant__ Chunks chunks, const __grid_constant__ Crossing<T> crossing,
                    double* partials) {
  extern __shared__ uint4 shared[];
  auto* const kept = reinterpret_cast<double*>(reinterpret_cast<ChunkRoom<T>*>(shared) + 1);
  TogetherBlock block(shared, kept, ground.rhs);
  Hop<T, reals, TogetherBlock> hop(block, ground, stage, chunks);
  run(block, hop, stage, crossing, ground.rhs, partials);
}

template <class T>
__global__ void __launch_bounds__(block_threads, blocks_a_multiprocessor)
    project_kernel(const __grid_constant__ Ground<T> ground, const T* field, bool odd, bool dagger,
                   const __grid_constant__ Chunks chunks, const __grid_constant__ Crossing<T> crossing) {
  SiteBlock block(nullptr);
  wait_for_previous_kernel();
  pass<T>(block, ground, chunks, crossing, odd, dagger, [&](Word place, Word four) {
    return four_at(field_of(field, ground, blockIdx.y), ground.half(), place, four);
  });
}

template <class T>
__global__ void __launch_bounds__(block_threads, blocks_a_multiprocessor)
    update_kernel(const __grid_constant__ SolveFields<T> all, const CgSteps* steps,
                  const __grid_constant__ Crossing<T> crossing) {
  SiteBlock block(nullptr);
  wait_for_previous_kernel();
  const CgSteps& own = steps[blockIdx.y];
  const T alpha = static_cast<T>(own.alpha), beta = static_cast<T>(own.beta);
  const bool p_stays = own.p_stays;
  const SolveFields<T> f = fields_of(all, blockIdx.y);
  const Word sites = all.ground.half();
  pass<T>(block, all.ground, all.chunks[0], crossing, false, false,
          [&](Word place, Word four) { return step_of(f, sites, place, four, alpha, beta, p_stays); });
}

// Launched with one warp.
template <class T>
__global__ void meet_kernel(const __grid_constant__ Ground<T> ground,
                            const __grid_constant__ Crossing<T> crossing, bool odd) {
  SiteBlock block(nullptr);
  wait_for_previous_kernel();
  meet(block, ground, crossing, odd);
}

__global__ void __launch_bounds__(block_threads)
    totals_kernel(const double* partials, Word shares, Word count, double* totals) {
  wait_for_previous_kernel();
  const Word number = blockIdx.x * chunk_warps + threadIdx.x / chunk_sites;
  if (number >= count) return;
  const double sum = sum_of_shares(partials, shares, count, number);
  if (threadIdx.x % chunk_sites == 0) totals[number] = sum;
}

__global__ void decide_kernel(CgSteps* steps, const double* totals, const History history) {
  wait_for_previous_kernel();
  CgSteps now = steps[threadIdx.x];
  decide(now, totals + threadIdx.x * sum_count, history.of(threadIdx.x));
  steps[threadIdx.x] = now;
}

template <class Kept>
__global__ void tell_kernel(const Kept* steps, Steps* host) {
  wait_for_previous_kernel();
  host[threadIdx.x] = steps[threadIdx.x];
}

}  // namespace

// No more blocks than run at once, so that the chunks being computed are close together and share what is in
// the L2.
unsigned hop_blocks(Word chunks) {
  static const unsigned at_once = multiprocessors() * blocks_a_multiprocessor;
  return std::min({chunks, at_once, most_hop_blocks});
}

template <class T, int reals>
cudaError_t prepare_hops() {
  const cudaError_t result = give_room<T>(hop_kernel<T, reals>);
  return result == cudaSuccess
             ? give_room<T>(together_kernel<T, reals>, TogetherBlock::kept_bytes(most_together))
             : result;
}

template <class T, int reals>
cudaError_t launch_hop(const Ground<T>& ground, const Stage<T>& stage, const Chunks& chunks, unsigned blocks,
                       const Crossing<T>& crossing, double* partials, bool early, cudaStream_t stream) {
  if (chunks.count == 0) return cudaSuccess;
  const bool together = ground.rhs > 1;
  const auto kernel = together ? together_kernel<T, reals> : hop_kernel<T, reals>;
  const std::size_t room = sizeof(ChunkRoom<T>) + (together ? TogetherBlock::kept_bytes(ground.rhs) : 0);
  return launch_kernel(kernel, {blocks, block_threads, room, early}, stream, ground, stage, chunks, crossing,
                       partials);
}

template <class T>
cudaError_t launch_meet(const Ground<T>& ground, const Crossing<T>& crossing, bool odd, cudaStream_t stream) {
  return launch_kernel(meet_kernel<T>, {1, chunk_sites}, stream, ground, crossing, odd);
}

template <class T>
cudaError_t launch_project(const Ground<T>& ground, const T* field, bool odd, bool dagger,
                           const Chunks& chunks, const Crossing<T>& crossing, cudaStream_t stream) {
  if (chunks.count == 0) return cudaSuccess;
  const dim3 grid(hop_blocks(chunks.count), ground.rhs);
  return launch_kernel(project_kernel<T>, {grid, block_threads}, stream, ground, field, odd, dagger, chunks,
                       crossing);
}

template <class T>
cudaError_t launch_update(const SolveFields<T>& fields, const CgSteps* steps, const Crossing<T>& crossing,
                          cudaStream_t stream) {
  const dim3 grid(hop_blocks(fields.chunks[0].count), fields.ground.rhs);
  return launch_kernel(update_kernel<T>, {grid, block_threads}, stream, fields, steps, crossing);
}

cudaError_t launch_totals(const double* partials, unsigned shares, unsigned count, double* totals,
                          cudaStream_t stream) {
  const unsigned blocks = (count + chunk_warps - 1) / chunk_warps;
  return launch_kernel(totals_kernel, {blocks, block_threads}, stream, partials, shares, count, totals);
}

cudaError_t launch_decide(CgSteps* steps, unsigned rhs, const double* totals, const History& history,
                          cudaStream_t stream) {
  return launch_kernel(decide_kernel, {1, rhs}, stream, steps, totals, history);
}

template <class Kept>
cudaError_t launch_tell(const Kept* steps, unsigned rhs, Steps* host, cudaStream_t stream) {
  return launch_kernel(tell_kernel<Kept>, {1, rhs}, stream, steps, host);
}
template cudaError_t launch_tell(const CgSteps*, unsigned, Steps*, cudaStream_t);
template cudaError_t launch_tell(const BicgstabSteps*, unsigned, Steps*, cudaStream_t);

#define TCA_QCD_HOP(T, reals)                                                                           \
  template cudaError_t prepare_hops<T, reals>();                                                        \
  template cudaError_t launch_hop<T, reals>(const Ground<T>&, const Stage<T>&, const Chunks&, unsigned, \
                                            const Crossing<T>&, double*, bool, cudaStream_t)
TCA_QCD_HOP(float, 12);
TCA_QCD_HOP(float, 18);
TCA_QCD_HOP(double, 12);
TCA_QCD_HOP(double, 18);
#undef TCA_QCD_HOP

#define TCA_QCD_PASS(T)                                                                       \
  template cudaError_t launch_meet(const Ground<T>&, const Crossing<T>&, bool, cudaStream_t); \
  template cudaError_t launch_project(const Ground<T>&, const T*, bool, bool, const Chunks&,  \
                                      const Crossing<T>&, cudaStream_t);                      \
  template cudaError_t launch_update(const SolveFields<T>&, const CgSteps*, const Crossing<T>&, cudaStream_t)
TCA_QCD_PASS(float);
TCA_QCD_PASS(double);
#undef TCA_QCD_PASS

}  // namespace tca::qcd
