/// @file
/// Starting and waiting for a committed chain from inside a kernel.
///
///     __global__ void solve(const __grid_constant__ tca::DeviceChain chain, ...) {
///       tca::GridChain halo(chain);                 // every thread of every block
///       for (int step = 0; step < steps && halo.good(); ++step) {
///         boundary(...);
///         halo.start();                             // what any block stored before it is sent
///         interior(...);
///         halo.wait();                              // what arrived can be read by every block
///       }
///     }
///     solve<<<blocks, threads>>>(halo_chain.device(), ...);      // a cooperative launch for GridChain
///
/// A grid is fastest with a warp for each chunk of the chain's packets (DeviceChain::chunks_out, 384 bytes
/// each), in up to 128 blocks: faces of 128 KB take 1.6 us.
///
/// The state of a small message stays in registers from step to step where there are enough:
/// __launch_bounds__(threads, 1) on the kernel lets the compiler take them. In memory it costs about 0.1 us a
/// step.
///
/// The number of the step lives in device memory between kernels, so these kernels mix freely with starts by
/// the host and by CUDA graphs, one after the other. While one of them runs nothing else may start the same
/// chain.
///
/// `wait` returns false, on every thread that calls it, once a partner has not signalled within the chain's
/// time limit or the world has met an error; from then on every call returns false at once. The host then
/// reports who is missing. A GridChain's `good` is what its last `wait` or `barrier` returned, the same on
/// every block; a BlockChain's is the block's own.
#pragma once

#include "tca/device/ll.hpp"
#include "tca/device/stores.hpp"

namespace tca {

namespace device {

__device__ inline Word block_number() {
  return (blockIdx.z * gridDim.y + blockIdx.y) * gridDim.x + blockIdx.x;
}
__device__ inline Word blocks_in_grid() { return gridDim.x * gridDim.y * gridDim.z; }
__device__ inline Word thread_number() {
  return (threadIdx.z * blockDim.y + threadIdx.y) * blockDim.x + threadIdx.x;
}
__device__ inline Word threads_in_block() { return blockDim.x * blockDim.y * blockDim.z; }

// A barrier of all blocks, which must be on the GPU together, in two halves: what a block has stored before
// it arrived can be read by every block that has waited. `grid_wait` takes what `grid_arrive` returned, and
// is true when `good` was true on every block, this time and before.
//
// The upper half of `word` counts arrivals. The first block adds as much as turns its top bit over once all
// others have arrived, so the count need not be set back (as in cooperative_groups). The lower half counts
// arrivals that were not good.
__device__ inline std::uint64_t grid_arrive(std::uint64_t* word, bool good) {
  __syncthreads();
  std::uint64_t before = 0;
  if (thread_number() == 0) {
    const std::uint64_t arrival = block_number() == 0 ? 0x80000000u - (blocks_in_grid() - 1) : 1;
    const std::uint64_t add = arrival << 32 | (good ? 0 : 1);
    // Release: pairs with the acquire in `grid_wait`, for what this block has stored.
    asm volatile("fence.acq_rel.gpu;\n\tatom.relaxed.gpu.global.add.u64 %0, [%1], %2;"
                 : "=l"(before)
                 : "l"(word), "l"(add)
                 : "memory");
  }
  return before;
}
__device__ inline bool grid_wait(std::uint64_t* word, std::uint64_t before) {
  __shared__ bool all_good;
  if (thread_number() == 0) {
    std::uint64_t now;
    do {
      asm volatile("ld.acquire.gpu.global.u64 %0, [%1];" : "=l"(now) : "l"(word) : "memory");
    } while ((before ^ now) >> 63 == 0);
    all_good = static_cast<Word>(now) == 0;
  }
  __syncthreads();
  return all_good;
}
__device__ inline bool grid_barrier(std::uint64_t* word, bool good) {
  return grid_wait(word, grid_arrive(word, good));
}

// A block as the group of a part (see device/stores.hpp).
class Block {
 public:
  __device__ Block(Word part, Word parts) : part_(part), parts_(parts) {}
  static __device__ Block of_grid() { return {block_number(), min(blocks_in_grid(), max_parts)}; }
  __device__ Word part() const { return part_; }
  __device__ Word parts() const { return parts_; }
  __device__ Word lane() const { return thread_number(); }
  __device__ Word lanes() const { return threads_in_block(); }
  // A block of one warp avoids the block's barrier, which takes longer.
  __device__ void sync() const {
    if (lanes() <= 32) {
      __syncwarp();
    } else {
      __syncthreads();
    }
  }
  __device__ bool all(bool mine) const {
    if (lanes() > 32) return __syncthreads_and(mine) != 0;
    __syncwarp();  // a vote orders no memory
    return __all_sync(0xffffffffu, mine) != 0;
  }
  __device__ bool any(bool mine) const { return __syncthreads_or(mine); }

 private:
  Word part_, parts_;
};

// A warp of a part's thread group as the unit that carries chunks (see device/ll.hpp). Neighbouring chunks
// go to different blocks, so that few of them already use many multiprocessors.
class Warp {
 public:
  static constexpr Word size = 32;

  template <class ThreadGroup>
  __device__ explicit Warp(const ThreadGroup& group)
      : index_(group.lane() / size * group.parts() + group.part()),
        count_(group.parts() * (group.lanes() / size)) {}
  __device__ Word index() const { return index_; }
  __device__ Word count() const { return count_; }
  __device__ Word lane() const { return thread_number() % size; }
  static constexpr __device__ Word lanes() { return size; }
  __device__ void sync() const { __syncwarp(); }
  __device__ bool all(bool mine) const { return __all_sync(0xffffffffu, mine) != 0; }

 private:
  Word index_, count_;
};

// A part of a chain, and how far its group has come with it. Every lane of the group makes every call:
// `read_step` first, any number of steps, and `keep_step` last.
template <class ThreadGroup>
class ChainPart {
 public:
  ChainPart(const ChainPart&) = delete;

  // Sends what any lane of the group has stored before it.
  __device__ void start() {
    if (!takes_part()) return;
    group_.sync();
    begin();
    send();
  }

  // What arrived can be read by every lane of the group.
  __device__ bool wait() {
    if (!takes_part()) return good_;
    good_ = good_ && in_.receive(chain_.limits, step_, Warp(group_));
    if (receives_own_packet_ == 0) receive_others();
    return good_;
  }

  __device__ bool good() const { return good_; }
  __device__ Word step() const { return step_; }

 protected:
  // `parts_start_together`: no part comes to a `start` before all are done with the step before, for example
  // because the kernel has just begun. `with_copy_engine`: the host has a copy engine move the puts that are
  // meant for one.
  __device__ ChainPart(const DeviceChain& chain, const ThreadGroup& group, bool parts_start_together,
                       bool with_copy_engine = false)
      : chain_(chain),
        group_(group),
        out_(chain.ll_out, chain.chunks_out, Warp(group_)),
        in_(chain.ll_in, chain.chunks_in, Warp(group_)),
        sends_own_packet_(
            keep_in_register(out_.is_all() && chain.segments_out == 0 && chain.readies.count == 0)),
        receives_own_packet_(
            keep_in_register(in_.is_all() && chain.segments_in == 0 && group_.lanes() == Warp::size)),
        parts_start_together_(parts_start_together),
        with_copy_engine_(with_copy_engine) {}

  // Parts beyond the most that a chain is cut into have nothing to do.
  __device__ bool takes_part() const { return group_.part() < group_.parts(); }

  // Takes over the number of finished steps from the kernel that ran the chain last.
  __device__ void read_step() {
    if (!takes_part()) return;
    step_ = chain_.steps[group_.part()];
    out_.begin_after(step_);
    in_.begin_after(step_);
  }

  // Leaves the number of finished steps to the next kernel that runs the chain.
  __device__ void keep_step(Word finished) const {
    if (!takes_part()) return;
    group_.sync();  // every lane has read the number
    for (Word e = group_.part() + group_.lane() * group_.parts(); e < max_parts;
         e += group_.lanes() * group_.parts()) {
      chain_.steps[e] = finished;
    }
  }

  // Begins the next step. It also tells the partners that this part is done reading what the step before
  // brought.
  __device__ void begin() {
    ++step_;
    if (sends_own_packet_ != 0 || chain_.readies.count == 0) return;
    good_ = good_ && post_ready(chain_, step_, group_, parts_start_together_);
  }

  __device__ void send() {
    good_ = good_ && out_.send(chain_.limits, step_, Warp(group_));
    if (sends_own_packet_ == 0) send_others();
  }
  __device__ void send_others() {
    if (!out_.is_all()) good_ = good_ && send_packets(chain_, step_, Warp(group_), out_.skipped());
    if (chain_.segments_out > 0)
      good_ = group_.all(good_) && send_stores(chain_, step_, group_, with_copy_engine_);
  }
  __device__ void receive_others() {
    if (!in_.is_all()) good_ = good_ && receive_packets(chain_, step_, Warp(group_), in_.skipped());
    if (group_.lanes() > Warp::size) good_ = group_.all(good_);  // a warp alone has voted as it received
    if (good_ && chain_.segments_in > 0) good_ = receive_stores(chain_, step_, group_);
  }

  const DeviceChain& chain_;
  ThreadGroup group_;
  OwnPacket out_, in_;
  Word step_ = 0;
  // Whether this warp's own packets are all that the step sends from here, and all that it brings here (for a
  // group of one warp): a small message then passes one branch for all the rest.
  Flag sends_own_packet_, receives_own_packet_;
  bool parts_start_together_;
  bool with_copy_engine_;
  bool good_ = true;
};

}  // namespace device

/// A part of a chain, carried by the calling block; all blocks of the grid together carry the whole. It is
/// for kernels in which a block sends only what it has computed itself and reads only what it has received
/// itself, and for kernels that have their own barriers; a kernel cannot ask which bytes belong to which
/// part. Every thread of the block makes every call; blocks have a multiple of 32 threads, and the first 256
/// blocks of a grid take part.
class BlockChain : public device::ChainPart<device::Block> {
 public:
  __device__ explicit BlockChain(const DeviceChain& chain) : BlockChain(chain, false) {}
  __device__ ~BlockChain() { keep_step(step_); }

 protected:
  __device__ BlockChain(const DeviceChain& chain, bool parts_start_together)
      : ChainPart(chain, device::Block::of_grid(), parts_start_together) {
    read_step();
  }
};

/// A chain carried by a cooperative grid, with all the promises of a start and a wait on the host. Each start
/// and each wait is a barrier of the grid.
class GridChain : BlockChain {
 public:
  __device__ explicit GridChain(const DeviceChain& chain) : BlockChain(chain, true) {}

  /// Says that this block has stored what it has to send and is done reading what arrived. Between this call
  /// and `start` it may do work that does neither, while the others come here.
  __device__ void arrive() {
    before_ = device::grid_arrive(chain_.barrier, good_);
    arrived_ = true;
  }

  /// Sends what any block has stored before this call (or before `arrive`), and tells the partners that all
  /// blocks are done reading what arrived.
  __device__ void start() {
    if (!arrived_) arrive();
    arrived_ = false;
    good_ = device::grid_wait(chain_.barrier, before_);
    BlockChain::start();
  }

  /// Waits for what the partners send, which every block can read then. Returns the same to all of them.
  __device__ bool wait() {
    BlockChain::wait();
    return barrier();
  }

  /// What any block has stored before the barrier can be read by every block after it. The barrier also tells
  /// all blocks whether one has given up, so that none is left behind in the next.
  __device__ bool barrier() { return agreed_ = good_ = device::grid_barrier(chain_.barrier, good_); }

  /// Returns what the last `wait` or `barrier` did, which is the same on all blocks: if they leave on it,
  /// they leave together. A block keeps to itself what it finds out in between, until the next of them.
  __device__ bool good() const { return agreed_; }

  using BlockChain::step;

 private:
  std::uint64_t before_ = 0;
  bool arrived_ = false;
  bool agreed_ = true;
};

}  // namespace tca
