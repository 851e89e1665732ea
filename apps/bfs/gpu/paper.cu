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

__device__ bool find_parent(const PaperStep& step, Word own, std::int32_t stamp) {
  const Word end = step.graph.begin[own + 1];
  for (Word at = step.graph.begin[own]; at < end; ++at) {
    const Vertex neighbour = step.graph.neighbours[at];
    if (step.frontier[neighbour] != stamp) continue;
    step.own.parents[own] = neighbour;
    step.next[own] = stamp + 1;
    return true;
  }
  return false;
}

// A thread for each own vertex, and so a warp for each word of their bitmap.
__global__ void __launch_bounds__(1024, 1) paper_level_kernel(const __grid_constant__ PaperStep step) {
  const std::int32_t stamp = *step.stamp;
  for (Word own = blockIdx.x * blockDim.x + threadIdx.x; own < step.graph.own_words * in_gpu_word;
       own += gridDim.x * blockDim.x) {
    Word& word = step.own.visited[own / in_gpu_word];
    const Word visited = word;
    const bool is_found = (visited & bit_in_word(own)) == 0 && find_parent(step, own, stamp);
    const Word found = __ballot_sync(~0u, is_found);
    if (found == 0 || threadIdx.x % in_gpu_word != 0) continue;
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
