// What a warp of the kernel that does all iterations does in each of them.
#pragma once

#include <cstddef>

#include "himeno/gpu_cells.cuh"

namespace tca::himeno {

// One block a multiprocessor: a barrier of the grid takes less time with fewer blocks. Of so many threads that each has the
// registers for both halos' parts of it and to load all that a cell needs before it uses any of it.
constexpr unsigned run_threads = 384;
constexpr Word run_warps = run_threads / task_cells;

// Coefficients come from shared memory. They never change, so those of a block's first tasks stay there for all iterations,
// with the elements that they belong to. Those of the others pass through it: each warp requests them a task ahead, so that
// they are there when it needs them and take no register until then.
struct KeptTask {
  Word element[task_cells];
  float of[coefficient_count][task_cells];
};
struct alignas(16) PassingTask {
  float of[coefficient_count][task_cells];
};
struct Room {
  PassingTask passing[run_warps];
  KeptTask kept[1];  // and more, as many as were asked for

  static constexpr std::size_t bytes(Word kept) { return offsetof(Room, kept) + kept * sizeof(KeptTask); }
};

// A task a turn: the calling warp's share of the block's tasks, of which those of the shell come first.
class Turns {
 public:
  __device__ Turns(const Work& work, Room& room, Word kept)
      : work_(work),
        room_(room),
        shell_(share_of_block(work.shell())),
        core_(share_of_block(work.core())),
        count_(turns_among(shell_.count() + core_.count())),
        kept_(min(turns_among(kept), count_)) {
    for (Word turn = 0; turn < kept_; ++turn) keep(turn);
    __syncwarp();
    request(0);
  }
  __device__ ~Turns() { wait_for_request(); }

  // After so many the shell is done, whichever warp it is.
  __device__ Word of_shell() const { return (shell_.count() + run_warps - 1) / run_warps; }

  // From `begin` to `end`; those of an iteration one after the other. Returns the calling thread's sum of squared changes.
  __device__ double take(Word begin, Word end, const float* p, float* next) {
    const Region& region = work_.region;
    double sum = 0;
    for (Word turn = begin; turn < min(end, count_); ++turn) {
      const bool is_kept = turn < kept_;
      const Word at =
          is_kept ? kept_task(turn).element[lane()] : element(passing_turn(turn - kept_, backwards_));
      Cell cell;
      if (at != Region::nowhere) load_pressure(cell, p, at, region.plane, region.row);
      // Its loads are under way before any of them is waited for.
      asm volatile("" ::: "memory");
      if (!is_kept) wait_for_request();
      const auto& of = is_kept ? kept_task(turn).of : room_.passing[warp()].of;
#pragma unroll
      for (unsigned c = 0; c < coefficient_count; ++c) cell.of[c] = of[c][lane()];
      if (!is_kept) {
        __syncwarp();  // every lane has read its own
        request(turn - kept_ + 1);
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
    return warp() < tasks ? (tasks - 1 - warp()) / run_warps + 1 : 0;
  }

  __device__ Word passing() const { return count_ - kept_; }
  __device__ bool alternates() const { return kept_ >= of_shell(); }

  __device__ Word task(Word turn) const {
    const Word n = warp() + turn * run_warps;
    return n < shell_.count() ? shell_.begin + n : core_.begin + (n - shell_.count());
  }
  __device__ Word element(Word turn) const { return work_.region.element(task(turn), lane()); }
  __device__ KeptTask& kept_task(Word turn) const { return room_.kept[warp() + turn * run_warps]; }

  __device__ void keep(Word turn) const {
    KeptTask& to = kept_task(turn);
    to.element[lane()] = element(turn);
    const float* const from = work_.coefficients_of(task(turn)) + lane();
#pragma unroll
    for (unsigned c = 0; c < coefficient_count; ++c) to.of[c][lane()] = from[c * task_cells];
  }

  __device__ Word passing_turn(Word n, bool backwards) const {
    return kept_ + (backwards ? passing() - 1 - n : n);
  }

  // The n-th that passes in this iteration; behind the last of them the first of the next iteration.
  __device__ void request(Word n) const {
    if (passing() == 0) return;
    const bool is_next = n == passing();
    const Word turn = passing_turn(is_next ? 0 : n, is_next ? backwards_ != alternates() : backwards_);
    const float* const from = work_.coefficients_of(task(turn));
    float* const to = room_.passing[warp()].of[0];
    constexpr Word floats = 16 / sizeof(float);
    for (Word at = lane() * floats; at < coefficient_count * task_cells; at += task_cells * floats) {
      asm volatile("cp.async.cg.shared.global [%0], [%1], 16;" ::"r"(
                       static_cast<Word>(__cvta_generic_to_shared(to + at))),
                   "l"(from + at)
                   : "memory");
    }
  }
  static __device__ void wait_for_request() {
    asm volatile("cp.async.wait_all;" ::: "memory");
    __syncwarp();
  }

  const Work& work_;
  Room& room_;
  Tasks shell_, core_;
  Word count_, kept_;
  bool backwards_ = false;
};

}  // namespace tca::himeno
