// What a warp of the kernel that does all iterations does in each of them.
#pragma once

#include <cstddef>

#include "himeno/gpu_cells.cuh"

namespace tca::himeno {

// One block a multiprocessor: a barrier of the grid takes less time with fewer blocks. Of so many threads that each has the
// registers for both halos' parts of it and to load all that a cell needs before it uses any of it.
constexpr unsigned run_threads = 384;
constexpr Word run_warps = run_threads / task_cells;

// Coefficients come from shared memory. They never change, so those of a block's first tasks stay there for all iterations.
// Those of the others pass through it: each warp requests them a task ahead, so that they are there when it needs them and
// take no register until then. Where the cells are is kept of every task, or of as many as have room.
struct Room {
  static constexpr Word most_rows = 1024;

  TaskCoefficients passing[run_warps];
  TaskRow rows[most_rows];
  TaskCoefficients kept[1];  // and more, as many as were asked for

  static constexpr std::size_t bytes(Word kept) {
    return offsetof(Room, kept) + kept * sizeof(TaskCoefficients);
  }
};

// From addresses in shared memory: for pointers the compiler asks again and again where the block is in its cluster, and
// waits for the answer.
__device__ inline float4 load_shared_floats(Word address) {
  float4 value;
  asm volatile("ld.shared.v4.f32 {%0, %1, %2, %3}, [%4];"
               : "=f"(value.x), "=f"(value.y), "=f"(value.z), "=f"(value.w)
               : "r"(address)
               : "memory");
  return value;
}
__device__ inline TaskRow load_shared_row(Word address) {
  TaskRow value;
  asm volatile("ld.shared.v2.u32 {%0, %1}, [%2];"
               : "=r"(value.first), "=r"(value.cells)
               : "r"(address)
               : "memory");
  return value;
}

// A task a turn: the calling warp's share of the block's tasks, of which those of the shell come first.
class Turns {
 public:
  __device__ Turns(const Work& work, Room& room, Word kept)
      : work_(work),
        room_(static_cast<Word>(__cvta_generic_to_shared(&room))),
        shell_(share_of_block(work.shell())),
        core_(share_of_block(work.core())),
        count_(turns_among(shell_.count() + core_.count())),
        kept_(min(turns_among(kept), count_)) {
    for (Word turn = lane(); turn < count_ && place_of(turn) < Room::most_rows; turn += task_cells)
      room.rows[place_of(turn)] = work_.region.row_of(task_at(place_of(turn)));
    for (Word turn = 0; turn < kept_; ++turn)
      keep(room.kept[place_of(turn)], work_.coefficients[task_at(place_of(turn))]);
    __syncwarp();
    if (count_ == 0) return;
    find_cell();
    request();
  }
  __device__ ~Turns() { wait_for_request(); }

  // After so many the shell is done, whichever warp it is.
  __device__ Word of_shell() const { return (shell_.count() + run_warps - 1) / run_warps; }

  // From `begin` to `end`: every turn of an iteration in its order, since what is to come is found ahead. Returns the calling
  // thread's sum of squared changes.
  __device__ double take(Word begin, Word end, const float* p, float* next) {
    double sum = 0;
    for (Word turn = begin; turn < min(end, count_); ++turn) {
      const bool passes = turn >= kept_, is_own = is_own_;
      const Word at = at_;
      Cell cell;
      load_pressure(cell, p, at, work_.region.plane, work_.region.row);
      // Its loads are under way before any of them is waited for, and the next turn's cell is found meanwhile.
      asm volatile("" ::: "memory");
      advance();
      if (passes) wait_for_request();
      const Word from =
          passes ? passing() : room_ + offsetof(Room, kept) + place_of(turn) * sizeof(TaskCoefficients);
      load_coefficients(cell, [&](unsigned quad) {
        return load_shared_floats(from + TaskCoefficients::offset(quad, lane()));
      });
      if (passes) {
        __syncwarp();  // every lane has read its own
        request();
      }
      sum += update(cell, next + at, is_own);
    }
    return sum;
  }

 private:
  static __device__ Word warp() { return threadIdx.x / task_cells; }
  static __device__ Word lane() { return threadIdx.x % task_cells; }
  static __device__ Word turns_among(Word tasks) {
    return warp() < tasks ? (tasks - 1 - warp()) / run_warps + 1 : 0;
  }

  // A task among those of the block, in the order in which they are kept.
  static __device__ Word place_of(Word turn) { return warp() + turn * run_warps; }
  __device__ Word task_at(Word place) const {
    return place < shell_.count() ? shell_.begin + place : core_.begin + (place - shell_.count());
  }
  // What a turn of this iteration takes. Every other goes backwards through what passes, so that it begins with what is still
  // in the L2 when not all of it fits there; unless some of that is the shell's.
  __device__ Word place_in_order(Word turn) const {
    return place_of(backwards_ && turn >= kept_ ? kept_ + (count_ - 1 - turn) : turn);
  }

  __device__ void advance() {
    if (++turn_ == count_) {
      turn_ = 0;
      backwards_ = backwards_ != (kept_ >= of_shell());
    }
    find_cell();
  }

  __device__ void find_cell() {
    const Word place = place_in_order(turn_);
    TaskRow row;
    if (place < Room::most_rows)
      row = load_shared_row(room_ + offsetof(Room, rows) + place * sizeof(TaskRow));
    if (row.cells != 0) {
      is_own_ = lane() < row.cells;
      at_ = row.first + min(lane(), row.cells - 1);
    } else {
      at_ = work_.region.element(task_at(place), lane());
      is_own_ = at_ != Region::nowhere;
      if (!is_own_) at_ = work_.region.any();
    }
  }

  static __device__ void keep(TaskCoefficients& to, const TaskCoefficients& from) {
#pragma unroll
    for (unsigned quad = 0; quad < TaskCoefficients::quads; ++quad) {
      *reinterpret_cast<float4*>(to.of[quad][lane()]) =
          *reinterpret_cast<const float4*>(from.of[quad][lane()]);
    }
  }

  // What passes next: in the turn to come or, where what that takes is kept, in the first that does not.
  __device__ void request() const {
    if (kept_ == count_) return;
    const TaskCoefficients& from = work_.coefficients[task_at(place_in_order(max(turn_, kept_)))];
#pragma unroll
    for (unsigned quad = 0; quad < TaskCoefficients::quads; ++quad) {
      asm volatile("cp.async.cg.shared.global [%0], [%1], 16;" ::"r"(passing() +
                                                                     TaskCoefficients::offset(quad, lane())),
                   "l"(from.of[quad][lane()])
                   : "memory");
    }
  }
  __device__ Word passing() const {
    return room_ + offsetof(Room, passing) + warp() * sizeof(TaskCoefficients);
  }
  static __device__ void wait_for_request() {
    asm volatile("cp.async.wait_all;" ::: "memory");
    __syncwarp();
  }

  const Work& work_;
  Word room_;  // its address
  Tasks shell_, core_;
  Word count_, kept_;
  bool backwards_ = false;
  // To come. A lane without a cell of its own reads another's.
  Word turn_ = 0, at_ = 0;
  bool is_own_ = false;
};

}  // namespace tca::himeno
