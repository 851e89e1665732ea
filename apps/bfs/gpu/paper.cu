// A search with the messages of the paper, level by level from below.
#include "bfs/gpu/kernels.hpp"

namespace tca::bfs {

namespace {

__device__ Word bit_in_word(Word own) { return 1u << own % in_gpu_word; }

__global__ void begin_kernel(const __grid_constant__ PaperStep step, Vertex root) {
  step.frontier[root] = ++*step.stamp;
  const Vertex own = root - static_cast<Vertex>(step.graph.first_word * in_gpu_word);
  if (own < 0 || static_cast<Word>(own) >= step.graph.own_words * in_gpu_word) return;
  step.own.parents[own] = root;
  step.own.visited[static_cast<Word>(own) / in_gpu_word] |= bit_in_word(static_cast<Word>(own));
}

// Returns the first neighbour in the frontier among those from `at` to `end`, or `nowhere`.
__device__ Vertex look_alone(const PaperStep& step, Word at, Word end, std::int32_t stamp) {
  for (; at < end; ++at) {
    const Vertex neighbour = step.graph.neighbours[at];
    if (step.frontier[neighbour] == stamp) return neighbour;
  }
  return nowhere;
}

// The same by all lanes of a warp, each of which asks for several neighbours at once.
__device__ Vertex look_together(const PaperStep& step, Word at, Word end, std::int32_t stamp) {
  constexpr Word at_once = 8;
  for (at += threadIdx.x % in_gpu_word; __any_sync(~0u, at < end); at += at_once * in_gpu_word) {
    Vertex neighbours[at_once];
#pragma unroll
    for (Word k = 0; k < at_once; ++k)
      neighbours[k] = at + k * in_gpu_word < end ? step.graph.neighbours[at + k * in_gpu_word] : nowhere;
    bool is_hit[at_once];
#pragma unroll
    for (Word k = 0; k < at_once; ++k)
      is_hit[k] = neighbours[k] != nowhere && step.frontier[neighbours[k]] == stamp;
#pragma unroll
    for (Word k = 0; k < at_once; ++k)
      if (const Word hits = __ballot_sync(~0u, is_hit[k]); hits != 0)
        return __shfl_sync(~0u, neighbours[k], __ffs(static_cast<int>(hits)) - 1);
  }
  return nowhere;
}

// A thread for each own vertex, and so a warp for each word of their bitmap. One thread would take milliseconds for
// the longest lists, of tens of thousands of neighbours, so the warp goes together through what a list has
// beyond a few.
__global__ void __launch_bounds__(1024, 1) paper_level_kernel(const __grid_constant__ PaperStep step) {
  constexpr Word few = 32;
  const std::int32_t stamp = *step.stamp;
  const Word lane = threadIdx.x % in_gpu_word;
  for (Word own = blockIdx.x * blockDim.x + threadIdx.x; own < step.graph.own_words * in_gpu_word;
       own += gridDim.x * blockDim.x) {
    Word& word = step.own.visited[own / in_gpu_word];
    const Word visited = word;
    const bool looks = (visited & bit_in_word(own)) == 0;
    const Word begin = looks ? step.graph.begin[own] : 0, end = looks ? step.graph.begin[own + 1] : 0;
    Vertex parent = look_alone(step, begin, min(end, begin + few), stamp);
    for (Word left = __ballot_sync(~0u, parent == nowhere && begin + few < end); left != 0;
         left &= left - 1) {
      const int from = __ffs(static_cast<int>(left)) - 1;
      const Vertex found =
          look_together(step, __shfl_sync(~0u, begin + few, from), __shfl_sync(~0u, end, from), stamp);
      if (lane == static_cast<Word>(from)) parent = found;
    }
    if (parent != nowhere) {
      step.own.parents[own] = parent;
      step.next[own] = stamp + 1;
    }
    const Word found = __ballot_sync(~0u, parent != nowhere);
    if (found == 0 || lane != 0) continue;
    word = visited | found;
    *step.flag = 1;
  }
}

__global__ void next_stamp_kernel(const __grid_constant__ PaperStep step) {
  ++*step.stamp;
  *step.told = *step.flag;
}

__global__ void widen_kernel(const Vertex* parents, std::int64_t* tree, Word count) {
  for (Word at = blockIdx.x * blockDim.x + threadIdx.x; at < count; at += gridDim.x * blockDim.x)
    tree[at] = parents[at];
}

}  // namespace

cudaError_t launch_begin(const PaperStep& step, Vertex root, cudaStream_t stream) {
  const cudaError_t result = launch_make_ready(step.graph, step.own, stream);
  if (result != cudaSuccess) return result;
  begin_kernel<<<1, 1, 0, stream>>>(step, root);
  return cudaGetLastError();
}

cudaError_t launch_level(const PaperStep& step, const GridSize& size, cudaStream_t stream) {
  const cudaError_t result = cudaMemsetAsync(step.flag, 0, sizeof *step.flag, stream);
  if (result != cudaSuccess) return result;
  paper_level_kernel<<<size.blocks, size.threads, 0, stream>>>(step);
  next_stamp_kernel<<<1, 1, 0, stream>>>(step);
  return cudaGetLastError();
}

cudaError_t launch_widen(const Vertex* parents, std::int64_t* tree, Word count, cudaStream_t stream) {
  widen_kernel<<<256, 256, 0, stream>>>(parents, tree, count);
  return cudaGetLastError();
}

}  // namespace tca::bfs
