// The same steps one by one, for the host and for CUDA graphs.
#include <algorithm>

#include "qcd/gpu_block.cuh"

namespace tca::qcd {
namespace {

constexpr unsigned blocks_a_multiprocessor = 2;

template <class T, int reals>
__global__ void __launch_bounds__(block_threads, blocks_a_multiprocessor)
    hop_kernel(const __grid_constant__ Ground<T> ground, const __grid_constant__ Stage<T> stage,
               const __grid_constant__ Chunks chunks, const __grid_constant__ Crossing<T> crossing,
               double* partials) {
  extern __shared__ uint4 shared[];
  SiteBlock block(shared);
  Hop<T, reals, SiteBlock>(block, ground, stage, chunks)
      .run(WindowGhosts<T>{crossing.ghosts}, WindowSink<T>{crossing.outgoing});
  if (stage.tally != Tally::none) block.store_sums(partials);
}

// The next chunk's spinors must not come before every warp has sent what it has of this one's.
template <class T, int reals, class Make>
__device__ __forceinline__ void pass(SiteBlock& block, const Ground<T>& ground, const Chunks& chunks,
                                     const Crossing<T>& crossing, bool odd, bool dagger, const Make& make) {
  __shared__ alignas(16) T spinors[spinor_reals * chunk_sites];
  for (Word k = blockIdx.x; k < chunks.count; k += gridDim.x) {
    const auto chunk = static_cast<Word>(chunks.order[k]);
    block.each([&](SiteThread& thread) {
      const Word place = chunk * chunk_sites + thread.lane;
      if (ground.slots > 0) thread.here = neighbour_of(ground, chunk, odd, thread);
      if (thread.warp < 6 && place < ground.half())
        put_four(spinors, chunk_sites, thread.lane, thread.warp, make(place, thread.warp));
    });
    if (ground.slots == 0) continue;
    block.sync();
    send_chunk<T, reals>(block, ground, spinors, chunk, odd, dagger, WindowSink<T>{crossing.outgoing});
    block.sync();
  }
}

template <class T, int reals>
__global__ void __launch_bounds__(block_threads, blocks_a_multiprocessor)
    project_kernel(const __grid_constant__ Ground<T> ground, const T* field, bool odd, bool dagger,
                   const __grid_constant__ Chunks chunks, const __grid_constant__ Crossing<T> crossing) {
  SiteBlock block(nullptr);
  pass<T, reals>(block, ground, chunks, crossing, odd, dagger,
                 [&](Word place, Word four) { return four_at(field, ground.half(), place, four); });
}

template <class T, int reals>
__global__ void __launch_bounds__(block_threads, blocks_a_multiprocessor)
    update_kernel(const __grid_constant__ SolveFields<T> f, const CgSteps* steps,
                  const __grid_constant__ Crossing<T> crossing) {
  SiteBlock block(nullptr);
  const T alpha = static_cast<T>(steps->alpha), beta = static_cast<T>(steps->beta);
  const Word sites = f.ground.half();
  pass<T, reals>(block, f.ground, f.chunks[0], crossing, false, false,
                 [&](Word place, Word four) { return step_of(f, sites, place, four, alpha, beta); });
}

__global__ void __launch_bounds__(block_threads)
    totals_kernel(const double* partials, Word shares, Word count, double* totals) {
  __shared__ double sums[most_sums];
  SiteBlock block(nullptr);
  block.add_shares(partials, shares, sums, count);
  if (threadIdx.x < count) totals[threadIdx.x] = sums[threadIdx.x];
}

__global__ void decide_kernel(CgSteps* steps, const double* totals, double* history) {
  CgSteps now = *steps;
  decide(now, totals, history);
  *steps = now;
}

__global__ void tell_kernel(const Steps* steps, Steps* host) { *host = *steps; }

}  // namespace

// As many as run at once, so that those under way are neighbours and share what the L2 has.
unsigned hop_blocks(Word chunks) {
  static const unsigned at_once = multiprocessors() * blocks_a_multiprocessor;
  return std::min({chunks, at_once, most_hop_blocks});
}

template <class T, int reals>
cudaError_t prepare_hops() {
  return give_room<T>(hop_kernel<T, reals>);
}

template <class T, int reals>
cudaError_t launch_hop(const Ground<T>& ground, const Stage<T>& stage, const Chunks& chunks,
                       const Crossing<T>& crossing, double* partials, cudaStream_t stream) {
  if (chunks.count == 0) return cudaSuccess;
  hop_kernel<T, reals><<<hop_blocks(chunks.count), block_threads, sizeof(ChunkRoom<T>), stream>>>(
      ground, stage, chunks, crossing, partials);
  return cudaGetLastError();
}

template <class T, int reals>
cudaError_t launch_project(const Ground<T>& ground, const T* field, bool odd, bool dagger,
                           const Chunks& chunks, const Crossing<T>& crossing, cudaStream_t stream) {
  if (chunks.count == 0) return cudaSuccess;
  project_kernel<T, reals>
      <<<hop_blocks(chunks.count), block_threads, 0, stream>>>(ground, field, odd, dagger, chunks, crossing);
  return cudaGetLastError();
}

template <class T, int reals>
cudaError_t launch_update(const SolveFields<T>& fields, const CgSteps* steps, const Crossing<T>& crossing,
                          cudaStream_t stream) {
  update_kernel<T, reals>
      <<<hop_blocks(fields.chunks[0].count), block_threads, 0, stream>>>(fields, steps, crossing);
  return cudaGetLastError();
}

cudaError_t launch_totals(const double* partials, unsigned shares, unsigned count, double* totals,
                          cudaStream_t stream) {
  totals_kernel<<<1, block_threads, 0, stream>>>(partials, shares, count, totals);
  return cudaGetLastError();
}

cudaError_t launch_decide(CgSteps* steps, const double* totals, double* history, cudaStream_t stream) {
  decide_kernel<<<1, 1, 0, stream>>>(steps, totals, history);
  return cudaGetLastError();
}

cudaError_t launch_tell(const Steps* steps, Steps* host, cudaStream_t stream) {
  tell_kernel<<<1, 1, 0, stream>>>(steps, host);
  return cudaGetLastError();
}

#define TCA_QCD_HOP(T, reals)                                                                             \
  template cudaError_t prepare_hops<T, reals>();                                                          \
  template cudaError_t launch_hop<T, reals>(const Ground<T>&, const Stage<T>&, const Chunks&,             \
                                            const Crossing<T>&, double*, cudaStream_t);                   \
  template cudaError_t launch_project<T, reals>(const Ground<T>&, const T*, bool, bool, const Chunks&,    \
                                                const Crossing<T>&, cudaStream_t);                        \
  template cudaError_t launch_update<T, reals>(const SolveFields<T>&, const CgSteps*, const Crossing<T>&, \
                                               cudaStream_t)
TCA_QCD_HOP(float, 12);
TCA_QCD_HOP(float, 18);
TCA_QCD_HOP(double, 12);
TCA_QCD_HOP(double, 18);
#undef TCA_QCD_HOP

}  // namespace tca::qcd
