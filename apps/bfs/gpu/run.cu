// One kernel searches to the end.
#include "bfs/gpu/level.cuh"
#include "tca/device/memory.hpp"
#include "tca/operations.hpp"
#include "tca/team.cuh"

namespace tca::bfs {

namespace {

constexpr unsigned most_threads = 1024;
constexpr Word frontiers = 3;

// The frontier's place in the window, `ahead` levels after that of the level.
__device__ std::uint64_t frontier_at(const Run& run, Word level, Word ahead) {
  return std::uint64_t{(run.first_frontier + level + ahead) % frontiers} * run.graph.all_words;
}

// Clears the frontier that the next level writes to.
__device__ void clear(const Run& run, Word level) {
  Word* const words = run.frontiers.parts[run.frontiers.rank] + frontier_at(run, level, 2);
  for (Word at = blockIdx.x * blockDim.x + threadIdx.x; at < run.graph.all_words;
       at += gridDim.x * blockDim.x)
    words[at] = 0;
}

__device__ PackedReached search_level(const Run& run, Word number, bool is_from_below) {
  Level level(run.graph, run.own, run.frontiers, frontier_at(run, number, 1));
  const Word* const frontier = run.frontiers.parts[run.frontiers.rank] + frontier_at(run, number, 0);
  if (number == 0) {
    level.from_root(run.root);
  } else if (is_from_below) {
    level.from_below(frontier);
  } else {
    level.from_above(frontier);
  }
  return level.reached();
}

// A level has a single barrier, of all blocks of all ranks, which brings the bits of the frontier and the
// numbers that tell whether there is a further level and from where to search it.
__global__ void __launch_bounds__(most_threads, 1) run_kernel(const __grid_constant__ Run run) {
  const std::uint64_t begin = device::now_ns();
  GridTeam team(run.team);
  __shared__ PackedReached reached;
  Direction direction(run.graph.vertices, run.graph.directed_edges);
  for (Word number = 0;; ++number) {
    const PackedReached mine = search_level(run, number, direction.is_from_below());
    clear(run, number);
    if (number == 0) make_ready(run.graph, run.next_own);
    const PackedReached of_block = add_up_block(mine);
    if (threadIdx.x == 0) reached = of_block;
    if (!team.barrier(&reached, 1, Sum())) return;
    if (reached == 0) {
      if (blockIdx.x == 0 && threadIdx.x == 0) *run.found = {number, 1, device::now_ns() - begin};
      return;
    }
    direction.after(unpacked(reached));
  }
}

__global__ void make_ready_kernel(const __grid_constant__ GraphArrays graph,
                                  const __grid_constant__ OwnVertices own) {
  make_ready(graph, own);
}

}  // namespace

cudaError_t blocks_at_once(unsigned ranks, unsigned& blocks) {
  int device = 0, multiprocessors = 0;
  cudaError_t result = cudaGetDevice(&device);
  if (result == cudaSuccess)
    result = cudaDeviceGetAttribute(&multiprocessors, cudaDevAttrMultiProcessorCount, device);
  blocks = static_cast<unsigned>(multiprocessors) / ranks;
  return result;
}

cudaError_t launch_make_ready(const GraphArrays& graph, const OwnVertices& own, cudaStream_t stream) {
  make_ready_kernel<<<64, 256, 0, stream>>>(graph, own);
  return cudaGetLastError();
}

cudaError_t launch_run(const Run& run, const GridSize& size, cudaStream_t stream) {
  void* arguments[] = {const_cast<Run*>(&run)};
  return cudaLaunchCooperativeKernel(reinterpret_cast<void*>(run_kernel), dim3(size.blocks),
                                     dim3(size.threads), arguments, 0, stream);
}

}  // namespace tca::bfs
