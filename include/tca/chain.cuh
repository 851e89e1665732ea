// Starting and waiting for a committed chain from inside a kernel.
//
//   __global__ void solve(const __grid_constant__ tca::DeviceChain chain, ...) {
//     tca::GridChain halo(chain);                 // every thread of every block
//     for (int step = 0; step < steps && halo.good(); ++step) {
//       boundary(...);
//       halo.start();                             // what any block stored before it is sent
//       interior(...);
//       halo.wait();                              // what arrived can be read by every block
//     }
//   }
//   solve<<<blocks, threads>>>(halo_chain.device(), ...);      // a cooperative launch for GridChain
//
// Fastest is a warp for each chunk of the chain's lines (DeviceChain::chunks_out, 384 bytes each), in up to 128 blocks: faces of
// 128 KB take 1.6 us.
//
// What a small message needs stays in registers from step to step where there are enough: __launch_bounds__(threads, 1) on
// the kernel lets the compiler take them. Kept in memory it costs about 0.1 us a step.
//
// The number of the step lives in device memory between kernels, so these kernels mix freely with starts by the host and
// by CUDA graphs, one after the other. While one of them runs nothing else may start the same chain.
//
// `wait` returns false, on every thread that calls it, once a partner has not signalled within the chain's time limit or
// the world has met an error; from then on every call returns false at once. The host then reports who is missing. A GridChain's
// `good` is what its last `wait` or `barrier` returned, the same on every block; a BlockChain's is the block's own.
#pragma once

#include "tca/device/lines.hpp"
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

// A barrier of all blocks, which must be on the GPU together, in two halves: what a block has stored before it arrived can be
// read by every block that has waited. `grid_wait` takes what `grid_arrive` gave, and is true when `good` was on every block,
// this time and before.
//
// The word's upper half counts arrivals: one block adds what turns its top bit over once all others have come, so it need
// not be set back (the way of cooperative_groups). Its lower half counts who was not good.
__device__ inline std::uint64_t grid_arrive(std::uint64_t* word, bool good) {
  __syncthreads();
  std::uint64_t before = 0;
  if (thread_number() == 0) {
    const std::uint64_t arrival = block_number() == 0 ? 0x80000000u - (blocks_in_grid() - 1) : 1;
    const std::uint64_t add = arrival << 32 | (good ? 0 : 1);
    // Release, for what this block has stored; pairs with the acquire in `grid_wait`.
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

// A block as the carrier of segments.
class Block {
 public:
  __device__ Block(Word part, Word parts) : part_(part), parts_(parts) {}
  static __device__ Block of_grid() { return {block_number(), min(blocks_in_grid(), max_parts)}; }
  __device__ Word part() const { return part_; }
  __device__ Word parts() const { return parts_; }
  __device__ Word lane() const { return thread_number(); }
  __device__ Word lanes() const { return threads_in_block(); }
  // A block of one warp need not use the block's barrier, which takes longer.
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

// A warp as the carrier of chunks. Neighbouring chunks go to different blocks, so that few of them already use many
// multiprocessors.
class Warp {
 public:
  static constexpr Word size = 32;

  template <class Block>
  __device__ explicit Warp(const Block& block)
      : index_(block.lane() / size * block.parts() + block.part()),
        count_(block.parts() * (block.lanes() / size)) {}
  __device__ Word index() const { return index_; }
  __device__ Word count() const { return count_; }
  __device__ Word lane() const { return thread_number() % size; }
  static constexpr __device__ Word lanes() { return size; }
  __device__ void sync() const { __syncwarp(); }
  __device__ bool all(bool mine) const { return __all_sync(0xffffffffu, mine) != 0; }

 private:
  Word index_, count_;
};

// What a chain's part is to the carrier of it.
template <class Block>
class ChainPart {
 public:
  ChainPart(const ChainPart&) = delete;

  // Sends what any thread of the block has stored before it.
  __device__ void start() {
    if (!takes_part()) return;
    begin();
    send();
  }

  // What arrived can be read by every thread of the block.
  __device__ bool wait() {
    if (!takes_part()) return good_;
    good_ = good_ && in_.receive(chain_.patience, step_, Warp(block_));
    if (receives_own_line_ == 0) receive_others();
    return good_;
  }

  __device__ bool good() const { return good_; }
  __device__ Word step() const { return step_; }

 protected:
  // `whole_grid_is_here`: it is at the same place as a whole, e.g. because its kernel has just begun. `read_step` comes next,
  // `keep_step` last.
  __device__ ChainPart(const DeviceChain& chain, const Block& block, bool whole_grid_is_here,
                       bool with_copy_engine = false)
      : chain_(chain),
        block_(block),
        out_(chain.lines_out, chain.chunks_out, Warp(block_)),
        in_(chain.lines_in, chain.chunks_in, Warp(block_)),
        sends_own_line_(kept(out_.is_all() && chain.segments_out == 0 && chain.readies.count == 0)),
        receives_own_line_(kept(in_.is_all() && chain.segments_in == 0 && block_.lanes() == Warp::size)),
        whole_grid_is_here_(whole_grid_is_here),
        with_copy_engine_(with_copy_engine) {}

  // For a grid that is here as a whole and has other work meanwhile: false when they would have to wait. Between a
  // `try_start` and the one that succeeds no other `start` may come; after a `try_wait` that does comes `acknowledge`, which
  // lets the partners send again. With `tell` the host learns who is missing.
  __device__ bool try_start(bool tell) {
    if (!takes_part()) return true;
    begin();
    Word missing = out_.missing_ack(step_);
    if (missing == no_link && !out_.is_all())
      missing = missing_acks(chain_, step_, Warp(block_), out_.skipped());
    if (missing == no_link && chain_.segments_out > 0) missing = missing_permission(chain_, step_, block_);
    if (!has_all(missing, tell)) return false;
    send();
    return true;
  }
  __device__ bool try_wait(bool tell) {
    if (!takes_part()) return true;
    const Warp warp(block_);
    Word missing = in_.try_receive(step_, warp);
    if (missing == no_link && !in_.is_all()) missing = missing_lines(chain_, step_, warp, in_.skipped());
    if (missing == no_link && chain_.segments_in > 0) missing = missing_stores(chain_, step_, block_);
    if (!has_all(missing, tell)) return false;
    good_ = block_.all(in_.is_all() || receive_lines(chain_, step_, warp, in_.skipped()));
    if (good_ && chain_.segments_in > 0) good_ = receive_stores(chain_, step_, block_);
    return good_;
  }
  // The same, by fewer instructions, for a warp with a line a lane each way and nothing else.
  __device__ bool has_only_own_lines() const { return sends_own_line_ != 0 && receives_own_line_ != 0; }
  __device__ bool try_start_own_lines() {
    if (!begun_) ++step_;
    begun_ = !block_.all(out_.missing_ack(step_) == no_link);
    if (!begun_) out_.send_now(step_, Warp(block_));
    return !begun_;
  }
  __device__ bool try_wait_own_lines() { return in_.try_receive(step_, Warp(block_)) == no_link; }

  __device__ void acknowledge() const { in_.acknowledge(step_, Warp(block_)); }

  __device__ bool takes_part() const { return block_.part() < block_.parts(); }

  __device__ void read_step() {
    if (!takes_part()) return;
    step_ = chain_.steps[block_.part()];
    out_.begin_after(step_);
    in_.begin_after(step_);
  }

  // For the next kernel that runs the chain.
  __device__ void keep_step() {
    if (!takes_part()) return;
    block_.sync();  // every thread has read the number
    for (Word e = block_.part() + block_.lane() * block_.parts(); e < max_parts;
         e += block_.lanes() * block_.parts()) {
      chain_.steps[e] = step_ - begun_;
    }
  }

  // Once a step: its number, and that this part is done reading what the step before brought.
  __device__ void begin() {
    block_.sync();
    if (begun_) return;
    begun_ = true;
    ++step_;
    if (sends_own_line_ != 0 || chain_.readies.count == 0) return;
    good_ = good_ && post_ready(chain_, step_, block_, whole_grid_is_here_);
  }

  __device__ void send() {
    begun_ = false;
    good_ = good_ && out_.send(chain_.patience, step_, Warp(block_));
    if (sends_own_line_ == 0) send_others();
  }
  __device__ void send_others() {
    if (!out_.is_all()) good_ = good_ && send_lines(chain_, step_, Warp(block_), out_.skipped());
    if (chain_.segments_out > 0)
      good_ = block_.all(good_) && send_stores(chain_, step_, block_, with_copy_engine_);
  }
  __device__ void receive_others() {
    if (!in_.is_all()) good_ = good_ && receive_lines(chain_, step_, Warp(block_), in_.skipped());
    if (block_.lanes() > Warp::size) good_ = block_.all(good_);  // a warp alone has voted as it received
    if (good_ && chain_.segments_in > 0) good_ = receive_stores(chain_, step_, block_);
  }

  __device__ bool has_all(Word missing, bool tell) {
    if (tell && missing != no_link) {
      store_relaxed(chain_.patience.waiting + missing, step_);
      if (missing == gone_) end_in_vain(chain_.patience);
      gone_ = is_gone(chain_.patience, missing) ? missing : no_link;
    }
    return block_.all(good_ && missing == no_link);
  }

  const DeviceChain& chain_;
  Block block_;
  OwnLine out_, in_;
  Word step_ = 0;
  Word gone_ = no_link;  // for whom this lane waited when it last told, if that was gone
  // Whether one line a lane is all that there is to do for this warp, and on arrival for its block: a small message then passes
  // one branch for all the rest.
  Word sends_own_line_, receives_own_line_;
  bool whole_grid_is_here_;
  bool with_copy_engine_;
  bool begun_ = false;
  bool good_ = true;
};

}  // namespace device

// A part of a chain, carried by the calling block; all blocks of the grid together carry the whole. For kernels in which a
// block sends only what it has computed itself and reads only what it has received itself, or that bring their own
// barriers: which bytes belong to which part is not told. Every thread of the block makes every call; blocks have a
// multiple of 32 threads, and the first 256 blocks of a grid take part.
class BlockChain : public device::ChainPart<device::Block> {
 public:
  __device__ explicit BlockChain(const DeviceChain& chain) : BlockChain(chain, false) {}
  __device__ ~BlockChain() { keep_step(); }

 protected:
  __device__ BlockChain(const DeviceChain& chain, bool whole_grid_is_here)
      : ChainPart(chain, device::Block::of_grid(), whole_grid_is_here) {
    read_step();
  }
};

// A chain carried by a cooperative grid, with all the promises of a start and a wait on the host. Each of them is a barrier
// of the grid.
class GridChain : BlockChain {
 public:
  __device__ explicit GridChain(const DeviceChain& chain) : BlockChain(chain, true) {}

  // What this block has to send is stored, and it is done reading what arrived. Between this and `start` it may do work that
  // does neither, while the others come here.
  __device__ void arrive() {
    before_ = device::grid_arrive(chain_.barrier, good_);
    arrived_ = true;
  }

  // Sends what any block has stored before it (or before `arrive`), and says that all blocks are done reading what arrived.
  __device__ void start() {
    if (!arrived_) arrive();
    arrived_ = false;
    good_ = device::grid_wait(chain_.barrier, before_);
    BlockChain::start();
  }

  // Whatever arrived can be read by every block. Returns the same to all of them.
  __device__ bool wait() {
    BlockChain::wait();
    return barrier();
  }

  // What any block has stored before it can be read by every block after it. Also tells all blocks whether one has given
  // up, so that none is left behind in the next barrier.
  __device__ bool barrier() { return agreed_ = good_ = device::grid_barrier(chain_.barrier, good_); }

  // What the last `wait` or `barrier` returned, so the same on all blocks: those that leave on it leave together. What a block
  // finds out in between it keeps to itself until the next of them.
  __device__ bool good() const { return agreed_; }

  using BlockChain::step;

 private:
  std::uint64_t before_ = 0;
  bool arrived_ = false;
  bool agreed_ = true;
};

}  // namespace tca
