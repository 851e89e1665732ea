#include <algorithm>

#include "shared/gpu_call.hpp"
#include "tca/error.hpp"
#include "trigger/finder/find.hpp"
#include "trigger/gpu/kernels.hpp"

namespace tca::trigger {
namespace {

using device::Word;

constexpr unsigned threads = Warps::count;
constexpr std::size_t shared_bytes = sizeof(Scratch);

// Each block of the grid takes every so-many-th place of the slots. A last datagram may have fewer events than places, and
// one that came twice has none.
__device__ void answer_slots(const RingView& ring, std::uint64_t first, Word slots, float resolution,
                             Scratch* scratch) {
  __shared__ std::uint32_t words[Warps::warps];
  for (Word at = blockIdx.x; at < slots * ring.batch; at += gridDim.x) {
    const std::uint64_t slot = first + at / ring.batch;
    const Word event = at % ring.batch;
    if (event < ring.header(slot)->events)
      answer_event(Warps{words}, ring, slot, event, resolution, *scratch);
  }
}

// Called by a thread that knows its block to be ready. The last block tells the others and the host. Release: the host that
// acquires the word sees the answers of all blocks.
__device__ void say_answered(const RingView& ring, Word end, Board* board) {
  if (device::count_up(&board->count, gridDim.x - 1) != gridDim.x - 1) return;
  device::store_release(&ring.signals->answered, end);
  device::store_release(&board->ended, end);
}

__global__ void __launch_bounds__(threads) answer(const __grid_constant__ RingView ring, std::uint64_t first,
                                                  Word slots, float resolution, Board* board) {
  extern __shared__ Scratch scratch[];
  answer_slots(ring, first, slots, resolution, scratch);
  __syncthreads();
  if (threadIdx.x == 0) say_answered(ring, static_cast<Word>(first) + slots, board);
}

struct Watched {
  Word end, stop;
};

// The first thread of the first block: looks at the host's memory until events are to be answered. A look takes a
// microsecond, so it seldom looks whether it is to stop.
__device__ Watched look_at_ring(const RingView& ring, Word answered, Word& events, const Gather& gather) {
  constexpr Word looks_before_stop = 16;
  std::uint64_t since = 0;
  for (Word looks = 1;; ++looks) {
    const std::uint64_t filled = device::load_acquire(&ring.signals->filled);
    const Word end = static_cast<Word>(filled), all = static_cast<Word>(filled >> 32);
    if (end == answered) {
      if (looks % looks_before_stop == 0 && device::load_acquire(&ring.signals->stop) != 0)
        return {answered, 1};
      continue;
    }
    const std::uint64_t now = device::now_ns();
    if (since == 0) since = now;
    const bool is_due = all - events >= gather.events || static_cast<double>(now - since) >= 1000 * gather.us;
    if (!is_due) continue;
    events = all;
    return {end, 0};
  }
}

// The same for all blocks. The slots of before have been answered by all, or blocks would share out different ones.
__device__ Watched look(const RingView& ring, Word answered, Word& events, const Gather& gather,
                        Board* board) {
  if (blockIdx.x == 0) {
    while (device::load_acquire(&board->ended) != answered) {
    }
    const Watched seen = look_at_ring(ring, answered, events, gather);
    if (seen.stop != 0)
      device::store_release(&board->stop, 1);
    else
      device::store_release(&board->end, seen.end);
    return seen;
  }
  while (true) {
    if (const Word end = device::load_acquire(&board->end); end != answered) return {end, 0};
    if (device::load_acquire(&board->stop) != 0) return {answered, 1};
  }
}

__global__ void __launch_bounds__(threads)
    watch(const __grid_constant__ RingView ring, const __grid_constant__ Gather gather, float resolution,
          Board* board) {
  extern __shared__ Scratch scratch[];
  __shared__ Watched seen;
  std::uint64_t answered = 0;
  Word events = 0;  // so far
  if (blockIdx.x == 0 && threadIdx.x == 0) device::store_release(&ring.signals->watched, 1);
  while (true) {
    if (threadIdx.x == 0) seen = look(ring, static_cast<Word>(answered), events, gather, board);
    __syncthreads();
    const Watched now = seen;
    if (now.stop != 0) return;
    const Word slots = now.end - static_cast<Word>(answered);
    answer_slots(ring, answered, slots, resolution, scratch);
    answered += slots;
    __syncthreads();  // and `seen` may change
    if (threadIdx.x == 0) say_answered(ring, now.end, board);
  }
}

}  // namespace

int room_for_blocks(int most) {
  int gpu = 0, processors = 0, each = 0;
  apps::cuda_ok(cudaGetDevice(&gpu), "asking for the GPU");
  apps::cuda_ok(cudaDeviceGetAttribute(&processors, cudaDevAttrMultiProcessorCount, gpu),
                "asking for multiprocessors");
  for (const void* kernel : {reinterpret_cast<const void*>(answer), reinterpret_cast<const void*>(watch)}) {
    if (cudaFuncSetAttribute(kernel, cudaFuncAttributeMaxDynamicSharedMemorySize,
                             static_cast<int>(shared_bytes)) != cudaSuccess) {
      cudaGetLastError();
      each = 0;
      break;
    }
    apps::cuda_ok(cudaOccupancyMaxActiveBlocksPerMultiprocessor(&each, kernel, threads, shared_bytes),
                  "asking for the room of a kernel");
  }
  if (each == 0)
    throw Error(Errc::device_failed, "the GPU is too small: a multiprocessor has less than the " +
                                         std::to_string(shared_bytes / 1024 + 1) +
                                         " KiB of shared memory that finding rings takes");
  return std::clamp(processors, 1, most);
}

void launch_answers(const RingView& ring, std::uint64_t first, std::uint64_t end, float resolution,
                    int blocks, Board* board, cudaStream_t stream) {
  const auto slots = static_cast<Word>(end - first);
  const std::uint64_t wanted = (end - first) * ring.batch;
  const auto grid =
      static_cast<unsigned>(std::min<std::uint64_t>(wanted, static_cast<std::uint64_t>(blocks)));
  answer<<<grid, threads, shared_bytes, stream>>>(ring, first, slots, resolution, board);
  apps::cuda_ok(cudaGetLastError(), "launching the answers to a batch");
}

void launch_watch(const RingView& ring, const Gather& gather, float resolution, int blocks, Board* board,
                  cudaStream_t stream) {
  watch<<<static_cast<unsigned>(blocks), threads, shared_bytes, stream>>>(ring, gather, resolution, board);
  apps::cuda_ok(cudaGetLastError(), "launching the kernel that watches the ring");
}

}  // namespace tca::trigger
