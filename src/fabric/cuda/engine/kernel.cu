// The resident engine's kernel.
//
// Glossary:
//   bell      a command of 8 bytes, to run a chain or to quit (tca/device_bell.hpp); to ring is to store one
//   ringer    who rings: the host, in a ring in pinned memory, or kernels, in a ring in the GPU's memory
//   obeyed    a bell whose step has been ordered
//   part      a warp's share of a chain's units; a warp is busy with a chain if it has any
//   crew      two warps of a block that carry one chain at a time; each block has one crew for every chain that
//             a ringer may have under way
//   order     a word in shared memory that starts a crew on a step, or ends it (crew.cuh)
//   listener  the warp of a block that looks at the rings and gives the block's crews their orders
//   relay     a ring in which the first block's listener passes bells on to the other blocks'
//
// A step from the bell to the done word:
//   1. The host stores the bell (Engine::ring).
//   2. The first block's listener finds it (Listener::look), relays it to the other blocks, loads the chain
//      into a crew's Crew unless it is there already (load_chain), and stores the order (give_order).
//   3. Each warp of the crew reads the order (CrewWarp::next_order), prepares its part if the chain is new to
//      it, sends (try_start), keeps the step's number, and waits for what the partners send (try_wait).
//   4. The last busy warp of the block to be through counts the block (finish_part, finish_block), and the
//      last busy block tells the ringer: it stores the done word (tell_ringer).
//   5. Then each warp acknowledges what it has received, and its partners may send again.
// No barrier of the block is on this way: a small put is one warp's from the order to the done word.
#include "fabric/cuda/call.hpp"
#include "fabric/cuda/engine/crew_warp.cuh"
#include "fabric/cuda/engine/listener.cuh"

namespace tca::cuda {

namespace {

using engine::Crew;
using engine::crews;

constexpr unsigned threads = engine::warps * engine::warp_lanes;

__global__ void __launch_bounds__(threads, 1) engine_kernel(const __grid_constant__ EngineView view) {
  __shared__ alignas(Crew) std::byte room[crews * sizeof(Crew)];
  Crew* const all = reinterpret_cast<Crew*>(room);
  if (threadIdx.x < crews) {
    new (all + threadIdx.x) Crew;
    for (Word& word : all[threadIdx.x].chain_words) word = 0;
  }
  __syncthreads();
  if (engine::warp() == crews * engine::crew_size) {
    engine::Listener(view, all).run();
  } else {
    const Word crew = engine::warp() / engine::crew_size;
    engine::CrewWarp(view, all[crew], crew).run();
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
