// A search level by level, as kernels between which ranks exchange.
#include "bfs/gpu/level.cuh"
#include "bfs/gpu/reached.cuh"

namespace tca::bfs {

namespace {

__global__ void begin_kernel(const __grid_constant__ Step step, Vertex root) {
  Level(step.graph, step.own, step.next, 0).enter(root);
  step.frontier[static_cast<Word>(root) / in_gpu_word] = bit_in_word(root);
  *step.progressed = {Direction(step.graph.vertices, step.graph.directed_edges), 0, 0};
}

__global__ void __launch_bounds__(1024, 1) level_kernel(const __grid_constant__ Step step) {
  Level level(step.graph, step.own, step.next, 0);
  if (step.progressed->direction.is_from_below()) {
    level.from_below(step.frontier);
  } else {
    level.from_above(step.frontier);
  }
  __shared__ PackedReached of_block;
  if (threadIdx.x == 0) of_block = 0;
  __syncthreads();
  add_up(level.reached(), of_block);
  __syncthreads();
  if (threadIdx.x == 0 && of_block != 0)
    atomicAdd(reinterpret_cast<unsigned long long*>(step.reached + step.rank), of_block);
}

__global__ void conclude_kernel(const __grid_constant__ Step step) {
  PackedReached sum = 0;
  for (Word rank = 0; rank < step.ranks; ++rank) sum += step.reached[rank];
  const Reached reached = unpacked(sum);
  Progressed& now = *step.progressed;
  now.ended = reached.are_last();
  if (reached.vertices != 0) ++now.levels;
  now.direction.after(reached);
  *step.told = now;
}

}  // namespace

cudaError_t launch_begin(const Step& step, Vertex root, cudaStream_t stream) {
  cudaError_t result =
      cudaMemsetAsync(step.frontier, 0, std::size_t{step.graph.all_words} * sizeof(Word), stream);
  if (result == cudaSuccess) result = launch_make_ready(step.graph, step.own, stream);
  if (result != cudaSuccess) return result;
  begin_kernel<<<1, 1, 0, stream>>>(step, root);
  return cudaGetLastError();
}

cudaError_t launch_level(const Step& step, const GridSize& size, cudaStream_t stream) {
  cudaError_t result = cudaMemsetAsync(step.next.parts[0] + step.graph.first_word, 0,
                                       std::size_t{step.graph.own_words} * sizeof(Word), stream);
  if (result == cudaSuccess)
    result = cudaMemsetAsync(step.reached + step.rank, 0, sizeof(PackedReached), stream);
  if (result != cudaSuccess) return result;
  level_kernel<<<size.blocks, size.threads, 0, stream>>>(step);
  return cudaGetLastError();
}

cudaError_t launch_conclude(const Step& step, cudaStream_t stream) {
  conclude_kernel<<<1, 1, 0, stream>>>(step);
  return cudaGetLastError();
}

}  // namespace tca::bfs
