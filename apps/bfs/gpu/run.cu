// One kernel searches to the end, once or for every root that the host orders.
#include "bfs/gpu/level.cuh"
#include "bfs/gpu/reached.cuh"
#include "tca/device/memory.hpp"
#include "tca/operations.hpp"
#include "tca/team.cuh"

namespace tca::bfs {

namespace {

constexpr unsigned most_threads = 1024;

struct Shared {
  // The block's share of what a level has reached, and then all of it. Levels take turns as with frontiers: one
  // number is used, one is cleared for the next level, and one may still be read of the level before.
  PackedReached reached[3];
  LevelEnds ends[most_timed_levels];
};

__device__ bool is_first_thread() { return blockIdx.x == 0 && threadIdx.x == 0; }

// Loads and stores of numbers that others wait for, whole and past the caches of this multiprocessor.
__device__ std::uint64_t look_at(const std::uint64_t* number) {
  return *const_cast<const volatile std::uint64_t*>(number);
}
__device__ void show(std::uint64_t* number, std::uint64_t value) {
  *const_cast<volatile std::uint64_t*>(number) = value;
}

// Waits for the order of a search. The first block asks the host's memory, a microsecond away, and the others
// ask the GPU's. The host gives an order before it does anything else, or leaves its kernel none to wait for,
// so this wait has no time limit.
__device__ Vertex await_order(const Run& run, Word search) {
  __shared__ Vertex root;
  if (threadIdx.x == 0) {
    const std::uint64_t* const from = blockIdx.x == 0 ? &run.talk->order : run.order;
    std::uint64_t order;
    do order = look_at(from);
    while (Numbered::search(order) != search);
    if (blockIdx.x == 0) show(run.order, order);
    root = static_cast<Vertex>(Numbered::value(order));
  }
  __syncthreads();
  return root;
}

// A search, from the frontier `first` of those in the window on.
class KernelSearch {
 public:
  __device__ KernelSearch(const Run& run, const OwnVertices& own, Word first, Vertex root)
      : run_(run), own_(own), first_(first), root_(root), begin_(device::now_ns()) {}

  __device__ Word ns() const { return static_cast<Word>(device::now_ns() - begin_); }

  // Levels that it has gone through, and those below the root.
  __device__ Word steps() const { return steps_; }
  __device__ Word levels() const { return levels_; }

  // A level has a single barrier, of all blocks of all ranks, which brings the bits of the frontier and the
  // numbers that tell whether there is a further level and from where to search it. False where a rank has not
  // come.
  __device__ bool to_the_end(GridTeam& team, Shared& shared) {
    Direction direction(run_.graph.vertices, run_.graph.directed_edges);
    for (;;) {
      PackedReached& share = shared.reached[turn(0)];
      LevelEnds& ends = shared.ends[min(steps_, most_timed_levels - 1)];
      add_up(level(direction.is_from_below()), share);
      clear();
      if (threadIdx.x == 0) {
        shared.reached[turn(1)] = 0;
        ends.searched_ns = ns();
      }
      if (!team.barrier(&share, 1, Sum())) return false;
      ++steps_;
      const Reached reached = unpacked(share);
      if (threadIdx.x == 0) {
        ends.ended_ns = ns();
        ends.vertices = static_cast<Word>(reached.vertices);
        ends.is_from_below = direction.is_from_below();
      }
      if (reached.vertices != 0) levels_ = steps_;
      if (reached.are_last()) return true;
      direction.after(reached);
    }
  }

 private:
  // Which of three is the level's, or that of a level `ahead`.
  __device__ Word turn(Word ahead) const { return (first_ + steps_ + ahead) % 3; }

  // Where that frontier is in the window.
  __device__ std::uint64_t frontier(Word ahead) const {
    return std::uint64_t{turn(ahead)} * run_.graph.all_words;
  }

  __device__ PackedReached level(bool is_from_below) const {
    Level level(run_.graph, own_, run_.frontiers, frontier(1));
    const Word* const from = run_.frontiers.parts[run_.frontiers.rank] + frontier(0);
    if (steps_ == 0)
      level.from_root(root_);
    else if (is_from_below)
      level.from_below(from);
    else
      level.from_above(from);
    return level.reached();
  }

  // Clears the frontier that the next level writes to.
  __device__ void clear() const {
    Word* const words = run_.frontiers.parts[run_.frontiers.rank] + frontier(2);
    for (Word at = blockIdx.x * blockDim.x + threadIdx.x; at < run_.graph.all_words;
         at += gridDim.x * blockDim.x)
      words[at] = 0;
  }

  const Run& run_;
  const OwnVertices& own_;
  const Word first_;
  const Vertex root_;
  const std::uint64_t begin_;
  Word steps_ = 0, levels_ = 0;
};

__device__ void tell(const Run& run, const KernelSearch& found, Word search, const Shared& shared) {
  show(&run.talk->ns, Numbered::make(found.ns(), search));
  show(&run.talk->steps, Numbered::make(found.steps(), search));
  show(&run.talk->levels, Numbered::make(found.levels(), search));
  for (Word level = 0; level < min(found.steps(), most_timed_levels); ++level)
    run.talk->ends[level] = shared.ends[level];
}

__global__ void __launch_bounds__(most_threads, 1) run_kernel(const __grid_constant__ Run run) {
  __shared__ Shared shared;
  Word first = run.first_frontier;
  if (threadIdx.x == 0) shared.reached[first] = 0;
  __syncthreads();
  GridTeam team(run.team);
  for (Word number = run.search;; ++number) {
    if (run.stays && is_first_thread()) show(&run.talk->awaits, Numbered::make(0, number));
    const Vertex root = run.stays ? await_order(run, number) : run.root;
    if (root == nowhere) return;
    KernelSearch search(run, run.own[number % 2], first, root);
    if (!search.to_the_end(team, shared)) return;
    if (is_first_thread()) tell(run, search, number, shared);
    // What follows is outside of the search: nobody waits for it before the next root is known.
    make_ready(run.graph, run.own[1 - number % 2]);
    if (!run.stays) return;
    first = (first + search.steps()) % 3;
    if (!team.barrier()) return;
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
