// All iterations in one kernel, which exchanges ghosts and adds up the residual by itself.
#include <algorithm>
#include <cstddef>

#include "himeno/gpu_cells.cuh"
#include "tca/chain.cuh"
#include "tca/team.cuh"

namespace tca::himeno {

namespace {

// One block a multiprocessor: a barrier of the grid takes less time with fewer blocks. Of so many threads that each has the
// registers for both halos' parts of it and to load all that a cell needs before it uses any of it.
constexpr unsigned threads = 384;

constexpr Word warps = threads / task_cells;

// Coefficients come from shared memory. They never change, so those of a block's first tasks stay there for all iterations,
// with the elements that they belong to. Those of the others pass through it: each warp requests them so many tasks ahead
// that they are there when it needs them, and take no register until then.
constexpr Word requested_ahead = 1;
struct KeptTask {
  Word element[task_cells];
  float of[coefficient_count][task_cells];
};
struct alignas(16) PassingTask {
  float of[coefficient_count][task_cells];
};
struct Room {
  PassingTask passing[warps][requested_ahead];
  KeptTask kept[1];  // and more, as many as were asked for

  static constexpr std::size_t bytes(Word kept) { return offsetof(Room, kept) + kept * sizeof(KeptTask); }
};

// What the calling warp does in an iteration, a task a turn: its share of the block's tasks, of which those of the shell
// come first.
class Turns {
 public:
  __device__ Turns(const Work& work, Room& room, Word kept)
      : work_(work),
        room_(room),
        shell_(share_of_block({0, work.shell_tasks})),
        core_(share_of_block({work.shell_tasks, work.region.tasks})),
        kept_(turns_among(kept)),
        count_(turns_among(shell_tasks() + core_.end - core_.begin)) {
    kept_ = min(kept_, count_);
    for (Word turn = 0; turn < kept_; ++turn) keep(turn);
    __syncwarp();
    for (Word n = 0; n < requested_ahead; ++n) request(n);
  }
  __device__ ~Turns() { asm volatile("cp.async.wait_all;" ::: "memory"); }

  // After so many the shell is done, whichever warp it is.
  __device__ Word of_shell() const { return (shell_tasks() + warps - 1) / warps; }

  // From `begin` to `end`; those of an iteration one after the other. Returns the calling thread's sum of squared changes.
  __device__ double take(Word begin, Word end, const float* p, float* next) {
    const Region& region = work_.region;
    double sum = 0;
    for (Word turn = begin; turn < min(end, count_); ++turn) {
      const bool is_kept = turn < kept_;
      const Word at = is_kept ? kept_task(turn).element[lane()] : element(passing_turn(turn - kept_));
      Cell cell;
      if (at != Region::nowhere) load_pressure(cell, p, at, region.plane, region.row);
      // Its loads are under way before any of them is waited for.
      asm volatile("" ::: "memory");
      const PassingTask& passing = room_.passing[warp()][taken_ % requested_ahead];
      if (!is_kept) wait_for_request();
      const auto& of = is_kept ? kept_task(turn).of : passing.of;
#pragma unroll
      for (unsigned c = 0; c < coefficient_count; ++c) cell.of[c] = of[c][lane()];
      if (!is_kept) {
        ++taken_;
        __syncwarp();  // every lane has read its own
        request(turn - kept_ + requested_ahead);
      }
      if (at != Region::nowhere) sum += update(cell, next + at);
    }
    return sum;
  }

  // The iteration is over. The next takes what passes in the opposite order, so that it begins with what is still in the L2
  // when not all of it fits there; unless some of that is the shell's.
  __device__ void turn_back() { backwards_ = backwards_ != alternates(); }

 private:
  static __device__ Word warp() { return threadIdx.x / task_cells; }
  static __device__ Word lane() { return threadIdx.x % task_cells; }
  static __device__ Word turns_among(Word tasks) {
    return warp() < tasks ? (tasks - 1 - warp()) / warps + 1 : 0;
  }

  __device__ Word shell_tasks() const { return shell_.end - shell_.begin; }
  __device__ Word passing() const { return count_ - kept_; }
  __device__ bool alternates() const { return kept_ >= of_shell(); }

  __device__ Word task(Word turn) const {
    const Word n = warp() + turn * warps;
    return n < shell_tasks() ? shell_.begin + n : core_.begin + (n - shell_tasks());
  }
  __device__ Word element(Word turn) const { return work_.region.element(task(turn), lane()); }
  __device__ KeptTask& kept_task(Word turn) const { return room_.kept[warp() + turn * warps]; }

  __device__ void keep(Word turn) const {
    KeptTask& to = kept_task(turn);
    to.element[lane()] = element(turn);
    const float* const from = work_.coefficients_of(task(turn)) + lane();
#pragma unroll
    for (unsigned c = 0; c < coefficient_count; ++c) to.of[c][lane()] = from[c * task_cells];
  }

  __device__ Word passing_turn(Word n) const { return kept_ + (backwards_ ? passing() - 1 - n : n); }

  // The n-th that passes in this iteration, or beyond it in those that follow.
  __device__ void request(Word n) {
    if (passing() == 0) return;
    bool backwards = backwards_;
    for (; n >= passing(); n -= passing()) backwards = backwards != alternates();
    const Word turn = kept_ + (backwards ? passing() - 1 - n : n);
    const float* const from = work_.coefficients_of(task(turn));
    float* const to = room_.passing[warp()][requested_++ % requested_ahead].of[0];
    constexpr Word floats = 16 / sizeof(float);
    for (Word at = lane() * floats; at < coefficient_count * task_cells; at += task_cells * floats) {
      asm volatile("cp.async.cg.shared.global [%0], [%1], 16;" ::"r"(
                       static_cast<Word>(__cvta_generic_to_shared(to + at))),
                   "l"(from + at)
                   : "memory");
    }
    asm volatile("cp.async.commit_group;" ::: "memory");
  }
  static __device__ void wait_for_request() {
    asm volatile("cp.async.wait_group %0;" ::"n"(requested_ahead - 1) : "memory");
    __syncwarp();
  }

  const Work& work_;
  Room& room_;
  Tasks shell_, core_;
  Word kept_, count_;
  Word requested_ = 0, taken_ = 0;  // of those that pass, ever
  bool backwards_ = false;
};

// The ghosts of both pressures. Each chain keeps what it sends and receives in registers, so neither may be chosen by an
// index.
struct Halos {
  GridChain of_0, of_1;

  __device__ explicit Halos(const DeviceChain (&chains)[2]) : of_0(chains[0]), of_1(chains[1]) {}
  __device__ void arrive(int which) { which == 0 ? of_0.arrive() : of_1.arrive(); }
  __device__ void start(int which) { which == 0 ? of_0.start() : of_1.start(); }
  __device__ bool wait(int which) { return which == 0 ? of_0.wait() : of_1.wait(); }
};

// Returns false, to all blocks alike, when a partner has been waited for in vain. Each warp does a task of the core while
// the grid's barrier before the sends is on its way, which takes as long; and one before, if none of the shell is left for
// it.
__device__ __forceinline__ bool iterate(Turns& turns, Halos& halos, float* const (&pressure)[2], int current,
                                        double& sum) {
  const float* const p = current == 0 ? pressure[0] : pressure[1];
  float* const next = current == 0 ? pressure[1] : pressure[0];
  sum = 0;
  Word begin = 0, end = turns.of_shell();
#pragma unroll 1  // three times the code has no room in the registers
  for (int part = 0; part < 3; ++part) {
    sum += turns.take(begin, end, p, next);
    begin = end;
    end = part == 0 ? end + 1 : ~Word{0};
    if (part == 0) halos.arrive(1 - current);
    if (part == 1) halos.start(1 - current);
  }
  turns.turn_back();
  return halos.wait(1 - current);
}

// By the first block, once all blocks' sums are there.
__device__ void add_up(const Run& run, const DeviceTeam& team) {
  __shared__ double total;
  const double all = block_sum(threadIdx.x < gridDim.x ? run.sums[threadIdx.x] : 0);
  if (threadIdx.x == 0) total = all;
  __syncthreads();
  BlockTeam(team).allreduce_sum(&total, 1);
  __syncthreads();
  if (threadIdx.x == 0) *run.residual = total;
}

__global__ void __launch_bounds__(threads, 1)
    run_kernel(const __grid_constant__ Run run, const __grid_constant__ Partners partners, Word kept) {
  alignas(Room) extern __shared__ std::byte room[];
  Turns turns(run.work, *reinterpret_cast<Room*>(room), kept);
  Halos halos(partners.halos);
  double sum = 0;
  int current = run.current;
  for (std::int64_t n = 0; n < run.iterations; ++n) {
    if (!iterate(turns, halos, run.pressure, current, sum)) break;
    current = 1 - current;
  }
  sum = block_sum(sum);
  if (threadIdx.x == 0) run.sums[blockIdx.x] = sum;
  halos.of_0.barrier();
  if (blockIdx.x == 0) add_up(run, partners.team);
}

}  // namespace

namespace {

// How many of a block's tasks to keep: all, or as many as there is room for.
cudaError_t tasks_to_keep(const Work& work, unsigned blocks, Word& kept) {
  int device = 0, bytes = 0;
  cudaFuncAttributes kernel{};
  cudaError_t result = cudaGetDevice(&device);
  if (result == cudaSuccess)
    result = cudaDeviceGetAttribute(&bytes, cudaDevAttrMaxSharedMemoryPerBlockOptin, device);
  if (result == cudaSuccess) result = cudaFuncGetAttributes(&kernel, run_kernel);
  if (result != cudaSuccess) return result;
  const Word core_tasks = work.region.tasks - work.shell_tasks;
  const Word all = (work.shell_tasks + blocks - 1) / blocks + (core_tasks + blocks - 1) / blocks;
  const std::size_t room = static_cast<std::size_t>(bytes) - kernel.sharedSizeBytes - Room::bytes(0);
  kept = std::min(all, static_cast<Word>(room / sizeof(KeptTask)));
  return cudaFuncSetAttribute(run_kernel, cudaFuncAttributeMaxDynamicSharedMemorySize,
                              static_cast<int>(Room::bytes(kept)));
}

}  // namespace

cudaError_t blocks_at_once(unsigned ranks, unsigned& blocks) {
  int device = 0, multiprocessors = 0, each = 0;
  cudaError_t result = cudaGetDevice(&device);
  if (result == cudaSuccess)
    result = cudaDeviceGetAttribute(&multiprocessors, cudaDevAttrMultiProcessorCount, device);
  if (result == cudaSuccess)
    result = cudaOccupancyMaxActiveBlocksPerMultiprocessor(&each, run_kernel, threads, 0);
  blocks = each > 0 ? static_cast<unsigned>(multiprocessors) / ranks : 0;
  // Every block's sum is added by a thread of the first.
  if (blocks > threads) blocks = threads;
  return result;
}

cudaError_t launch_run(const Run& run, const Partners& partners, unsigned blocks, cudaStream_t stream) {
  Word kept = 0;
  const cudaError_t result = tasks_to_keep(run.work, blocks, kept);
  if (result != cudaSuccess) return result;
  void* arguments[] = {const_cast<Run*>(&run), const_cast<Partners*>(&partners), &kept};
  return cudaLaunchCooperativeKernel(reinterpret_cast<void*>(run_kernel), dim3(blocks), dim3(threads),
                                     arguments, Room::bytes(kept), stream);
}

}  // namespace tca::himeno
