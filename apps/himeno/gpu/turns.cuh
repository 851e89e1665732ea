// The tasks of one warp in the kernel that runs all iterations.
#pragma once

#include <cstddef>

#include "himeno/gpu/cells.cuh"

namespace tca::himeno {

// Threads of a block; there is one block per multiprocessor, because a barrier of the grid takes less time
// with fewer blocks. With this number each thread has the registers for its part of both halos and to load
// all that a cell needs before it uses any of it.
constexpr unsigned run_threads = 384;
constexpr Word run_warps = run_threads / task_cells;

// A block's shared memory, from which it reads the coefficients. They never change, so those of its first
// tasks stay here for all iterations. Those of the other tasks pass through: each warp requests them one task
// ahead, so that they have arrived when it needs them and take no register until then. The positions of the
// cells are kept for every task, or for as many as there is room for.
struct Room {
  static constexpr Word most_rows = 1024;

  TaskCoefficients passing[run_warps];
  TaskRow rows[most_rows];
  TaskCoefficients kept[1];  // and more behind it, as many as were asked for

  static constexpr std::size_t bytes(Word kept) {
    return offsetof(Room, kept) + kept * sizeof(TaskCoefficients);
  }
};

// Loads from addresses in shared memory. With pointers the compiler asks again and again where the block is
// in its cluster, and waits for the answer.
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

// The calling warp's share of the block's tasks, one per turn. Tasks of the shell come before those of the
// core.
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

  // Returns the number of turns after which every warp has finished its part of the shell.
  __device__ Word of_shell() const { return (shell_.count() + run_warps - 1) / run_warps; }

  // Takes the turns from `begin` to `end`. The calls go through all turns of an iteration in order, since
  // each turn finds the cell of the next. Returns the calling thread's sum of squared changes.
  __device__ double take(Word begin, Word end, const float* p, float* next) {
    double sum = 0;
    for (Word turn = begin; turn < min(end, count_); ++turn) {
      const bool passes = turn >= kept_, is_own = is_own_;
      const Word at = at_;
      Cell cell;
      load_pressure(cell, p, at, work_.region.plane, work_.region.row);
      // This barrier for the compiler puts all loads under way before any of them is waited for; the next
      // turn's cell is found meanwhile.
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

  // Returns the place of a turn's task among those of the block, in the order in which they are kept.
  static __device__ Word place_of(Word turn) { return warp() + turn * run_warps; }
  __device__ Word task_at(Word place) const {
    return place < shell_.count() ? shell_.begin + place : core_.begin + (place - shell_.count());
  }
  // Returns the place of the task that a turn of this iteration takes. Every other iteration goes backwards
  // through the tasks whose coefficients pass, so that it begins with what is still in the L2 cache when not
  // all of it fits there. It does so only when all tasks of the shell are kept, since those have to come
  // first.
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

  // Requests the coefficients that pass next: those of the coming turn or, if these are kept, those of the
  // first turn whose coefficients are not.
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
  Word room_;  // its address in shared memory
  Tasks shell_, core_;
  Word count_, kept_;
  bool backwards_ = false;
  // The next turn and its cell. A lane without a cell of its own reads another's.
  Word turn_ = 0, at_ = 0;
  bool is_own_ = false;
};

}  // namespace tca::himeno
