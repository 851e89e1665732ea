/// @file
/// A BlockTeam lets one block of a kernel make sums, barriers and single signals together with one block on
/// every other rank. A GridTeam makes sums and barriers over all blocks of all ranks:
///
///     __global__ void solve(const __grid_constant__ tca::DeviceTeam team, ...) {
///       tca::GridTeam all(team);                    // every thread of every block
///       __shared__ double dot;
///       if (threadIdx.x == 0) dot = ...;            // the block's share
///       if (!all.allreduce_sum(&dot, 1)) return;    // every block of every rank has the sum now
///     }
///     const auto sums = world.team("sums", 1, blocks);        // on the host: 1 value, so many blocks
///     solve<<<blocks, threads>>>(sums.device(), ...);         // a cooperative launch
#pragma once

#include "tca/device/block_sums.cuh"
#include "tca/device/groups.cuh"
#include "tca/device/packet.hpp"
#include "tca/device/stores.hpp"
#include "tca/device/team.hpp"
#include "tca/device/team_packets.hpp"
#include "tca/operations.hpp"

namespace tca {

/// Every thread of the block makes every call. Calls that wait return false, on every thread, once a rank
/// has not arrived within the time limit or the world has met an error; see tca/chain.cuh.
class BlockTeam {
 public:
  __device__ explicit BlockTeam(const DeviceTeam& team)
      : team_(team),
        lane_(device::keep_in_register(device::thread_number())),
        threads_(device::keep_in_register(device::threads_in_block())),
        step_(*team.step),
        sums_(team, lane_, threads_) {}
  BlockTeam(const BlockTeam&) = delete;
  __device__ ~BlockTeam() {
    __syncthreads();  // every thread has read the step
    if (lane_ == 0) *team_.step = step_;
  }

  __device__ device::Word rank() const { return team_.rank; }
  __device__ device::Word size() const { return team_.size; }

  /// Replaces `values` by the values of all ranks, combined in the order of the ranks, so that all get the
  /// same bits. `op` is one of those of tca/operations.hpp, or another function. There are at most as many
  /// values as the team was made for, of 4 or 8 bytes each, in shared or global memory.
  template <class T, class Op>
  __device__ bool allreduce(T* values, device::Word count, Op op) {
    if (count == 0) return agree();  // without a packet nobody would learn of the step
    ++step_;
    sync();
    good_ = good_ && sums_.reduce(values, count, step_, op);
    return agree();
  }
  __device__ bool allreduce_sum(double* values, device::Word count) {
    return allreduce(values, count, Sum());
  }

  /// Waits for every rank's block. After it all of them can read what any of them has stored before it, on
  /// any rank.
  __device__ bool barrier() {
    __syncthreads();
    ++step_;
    for (device::Word r = lane_; r < size(); r += threads_) {
      __threadfence_system();
      send(r, 0, 0);
    }
    for (device::Word r = lane_; r < size(); r += threads_) {
      std::uint64_t ignored;
      good_ = good_ && receive(r, 0, ignored);
      __threadfence_system();
    }
    return agree();
  }

  /// Raises a signal at a rank: whatever this block has stored before it, including by puts
  /// (tca/window.cuh), is there by then.
  __device__ void signal(device::Word to) {
    __syncthreads();
    if (lane_ == 0) device::store_release(team_.raise[to], ++team_.sent[to]);
  }
  /// Waits for the next signal from a rank.
  __device__ bool wait_signal(device::Word from) {
    if (lane_ == 0) {
      const device::Word next = team_.seen[from] + 1;
      if (good_ && !device::await(team_.raised + from, next, from, team_.limits)) {
        good_ = false;
        device::store_relaxed(team_.limits.waiting + size(), from + 1);
      }
      team_.seen[from] = next;
    }
    return agree();
  }

 private:
  static constexpr device::Word warp = 32;

  // A block of one warp need not use the block's barrier, which takes longer.
  __device__ bool is_a_warp() const { return threads_ <= warp; }
  __device__ void sync() const {
    if (is_a_warp()) {
      __syncwarp();
    } else {
      __syncthreads();
    }
  }
  // A barrier of the block, which returns whether all threads are good.
  __device__ bool agree() {
    if (!is_a_warp()) return good_ = __syncthreads_and(good_) != 0;
    __syncwarp();  // a vote orders no memory
    return good_ = __all_sync(0xffffffffu, good_) != 0;
  }

  __device__ void send(device::Word to, device::Word number, std::uint64_t raw) const {
    (team_.theirs[to] + (step_ % 2) * team_.max_values + number)->write(device::Packet::of(raw, step_));
  }
  __device__ const device::Packet* box(device::Word from, device::Word number) const {
    return team_.mine + (from * 2 + step_ % 2) * team_.max_values + number;
  }
  __device__ bool receive(device::Word from, device::Word number, std::uint64_t& raw) const {
    device::BoundedWait waiting(team_.limits, step_);
    device::Packet packet = box(from, number)->read_once();
    while (!packet.carries(step_)) {
      if (!waiting.keep_polling(from)) return false;
      packet = box(from, number)->read_once();
    }
    raw = packet.data();
    return true;
  }

  const DeviceTeam& team_;
  const device::Word lane_, threads_;  // the thread's number in the block, and the block's threads
  device::Word step_;
  bool good_ = true;
  device::BlockSums sums_;
};

/// Every thread of every block of a cooperative launch makes every call, and every rank launches the same
/// number of blocks, at most as many as the team was made for. Calls return false, on every thread, once a
/// rank has not arrived within the time limit or the world has met an error, and at once in a grid of more
/// blocks, which World::check reports.
///
/// Blocks find that out one by one: the call in which one gives up may succeed on another. So a kernel that
/// also has barriers of its grid, such as those of a GridChain, must have every block reach the next one
/// before any leaves.
class GridTeam {
 public:
  __device__ explicit GridTeam(const DeviceTeam& team)
      : team_(team),
        group_(device::block_number(), device::blocks_in_grid()),
        step_(team.step[1]),
        good_(group_.parts() <= team.max_blocks) {
    if (good_ || group_.part() != 0 || group_.lane() != 0) return;
    device::store_relaxed(team.limits.waiting + size() + 1, group_.parts());
    device::end_wait_in_vain(team.limits);
  }
  GridTeam(const GridTeam&) = delete;
  __device__ ~GridTeam() {
    // By then every block has read the step, or else none has made a call.
    if (group_.part() == 0 && group_.lane() == 0) team_.step[1] = step_;
  }

  __device__ device::Word rank() const { return team_.rank; }
  __device__ device::Word size() const { return team_.size; }

  /// Replaces `values`, of which every block has its own, by the combination of those of all blocks of all
  /// ranks. All get the same bits, which depend only on the values and the numbers of blocks and ranks.
  /// `op`, one of those of tca/operations.hpp or another function, may combine in any order. There are at
  /// most as many values as the team was made for, of 4 or 8 bytes each, in shared memory, or in global
  /// memory for each block. This is also a barrier of this rank's grid: after it all of its blocks can read
  /// what any of them has stored before it.
  template <class T, class Op>
  __device__ bool allreduce(T* values, device::Word count, Op op) {
    return combine(values, count, op, false);
  }
  __device__ bool allreduce_sum(double* values, device::Word count) {
    return allreduce(values, count, Sum());
  }

  /// Waits for all blocks of all ranks. After it all can read what any of them has stored before it, on any
  /// rank.
  __device__ bool barrier() {
    __shared__ device::Word nothing;  // its value does not matter
    return barrier(&nothing, 1, Max());
  }
  /// The same, and combines values as `allreduce` does.
  template <class T, class Op>
  __device__ bool barrier(T* values, device::Word count, Op op) {
    return combine(values, count, op, true);
  }

 private:
  template <class T, class Op>
  __device__ bool combine(T* values, device::Word count, Op op, bool everywhere) {
    if (!good_) return false;
    ++step_;
    const device::GridStep step{team_, step_, group_.part(), group_.parts(), everywhere};
    return good_ = step.reduce(values, count, op, scratch(), group_);
  }

  // One for all types and operations.
  __device__ static std::uint64_t* scratch() {
    __shared__ std::uint64_t numbers[device::GridStep::scratch_size];
    return numbers;
  }

  const DeviceTeam& team_;
  const device::Block group_;
  device::Word step_;
  bool good_;
};

}  // namespace tca
