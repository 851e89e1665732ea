// The resident engine's kernel.
//
// Glossary:
//   command       8 bytes, to run a chain or to quit (tca/device/doorbell.hpp); to post it is to store it
//   producer      who posts: the host, in a ring in pinned memory, or kernels, in a ring in the GPU's memory
//   consumed      said of a command that has become a work item
//   part          a warp's share of a chain's units; a warp is busy with a chain if it has any
//   worker group  two warps of a block that carry one chain at a time; each block has one group for every
//                 chain that a producer may have under way
//   work item     a word in shared memory that starts a worker group on a step, or ends it
//   dispatcher    the warp of a block that polls the rings and gives the block's groups their work items
//   relay         a ring in which the first block's dispatcher passes commands on to the other blocks'
//
// A step from the command to the done word:
//   1. The host posts the command (Engine::post).
//   2. The first block's dispatcher finds it (Dispatcher::poll), relays it to the other blocks, loads the
//      chain into a WorkerGroup unless it is there already (load_chain), and stores the item (give_item).
//   3. Each warp of the group reads the item (WorkerWarp::next_item), prepares its part if the chain is new
//      to it, sends (try_start), keeps the step's number, and waits for what the partners send (try_wait).
//   4. The last busy warp of the block to finish counts the block (finish_part, finish_block), and the last
//      busy block tells the producer: it stores the done word (tell_producer).
//   5. Then each warp acknowledges what it has received, and its partners may send again.
// No barrier of the block is on this way: a small put is one warp's from the work item to the done word.
#include "fabric/cuda/call.hpp"
#include "fabric/cuda/engine/dispatcher.cuh"
#include "fabric/cuda/engine/worker_warp.cuh"

namespace tca::cuda {

namespace {

using engine::worker_groups;
using engine::WorkerGroup;

constexpr unsigned threads = engine::warps * engine::warp_lanes;

__global__ void __launch_bounds__(threads, 1) engine_kernel(const __grid_constant__ EngineView view) {
  __shared__ alignas(WorkerGroup) std::byte room[worker_groups * sizeof(WorkerGroup)];
  WorkerGroup* const all = reinterpret_cast<WorkerGroup*>(room);
  if (threadIdx.x < worker_groups) {
    new (all + threadIdx.x) WorkerGroup;
    for (Word& word : all[threadIdx.x].chain_words) word = 0;
  }
  __syncthreads();
  if (engine::warp() == worker_groups * engine::workers_in_group) {
    engine::Dispatcher(view, all).run();
  } else {
    const Word workers = engine::warp() / engine::workers_in_group;
    engine::WorkerWarp(view, all[workers], workers).run();
  }
}

}  // namespace

void load_engine() {
  cudaFuncAttributes attributes{};
  check(cudaFuncGetAttributes(&attributes, engine_kernel), "loading the engine");
}

void launch_engine(const EngineView& view, unsigned blocks, cudaStream_t stream) {
  engine_kernel<<<blocks, threads, 0, stream>>>(view);
  check(cudaGetLastError(), "starting the engine");
}

}  // namespace tca::cuda
