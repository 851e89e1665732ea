/// @file
/// Starting and waiting for a committed chain from inside a kernel.
///
///     __global__ void solve(const __grid_constant__ tca::DeviceChain chain, ...) {
///       tca::GridChain halo(chain);                 // every thread of every block
///       for (int step = 0; step < steps && halo.good(); ++step) {
///         boundary(...);
///         halo.start();                             // sends what any block stored before
///         interior(...);
///         halo.wait();                              // every block can read what arrived
///       }
///     }
///     solve<<<blocks, threads>>>(halo_chain.device(), ...);      // a cooperative launch for GridChain
///
/// A grid is fastest with a warp for each chunk of the chain's packets (DeviceChain::chunks_out, 384 bytes
/// each), in up to 128 blocks: faces of 128 KB take 1.6 us.
///
/// The state of a small message stays in registers from step to step if there are enough:
/// __launch_bounds__(threads, 1) on the kernel lets the compiler use them. In memory it costs about 0.1 us
/// a step.
///
/// Between kernels the number of the step is kept in device memory, so these kernels mix freely with starts
/// by the host and by CUDA graphs, one after the other. While one of them runs nothing else may start the
/// same chain.
///
/// `wait` returns false, on every thread that calls it, once a partner has not signalled within the chain's
/// time limit or the world has met an error; from then on every call returns false at once. The host then
/// reports which rank is missing. A GridChain's `good` is what its last `wait` or `barrier` returned, the
/// same on every block; a BlockChain's is the block's own.
///
/// TimedBlockChain and TimedGridChain do the same with Chain::device_timed, and take the times of the messages, which
/// Chain::timing reads once the kernel has ended (tca/timing.hpp).
#pragma once

#include "tca/device/part.cuh"

namespace tca {

/// A part of a chain, carried by the calling block; all blocks of the grid together carry the whole. It is
/// for kernels in which a block sends only what it has computed itself and reads only what it has received
/// itself, and for kernels that have their own barriers; a kernel cannot ask which bytes belong to which
/// part. Every thread of the block makes every call; blocks have a multiple of 32 threads, and the first 256
/// blocks of a grid take part.
template <class View>
class BlockChainOf : protected device::PartOf<View> {
 public:
  __device__ explicit BlockChainOf(const View& chain) : BlockChainOf(chain, device::PartsStart::apart) {}
  __device__ ~BlockChainOf() { this->keep_step(); }

  /// Sends what any thread of the block has stored before this call.
  using device::PartOf<View>::start;
  /// What arrived can be read by every thread of the block.
  using device::PartOf<View>::good;
  using device::PartOf<View>::step;  ///< the last step that has begun
  using device::PartOf<View>::wait;

 protected:
  __device__ BlockChainOf(const View& chain, device::PartsStart starts)
      : device::PartOf<View>(chain, device::block_for(chain), starts) {
    this->read_step();
  }
};
using BlockChain = BlockChainOf<DeviceChain>;
/// The same, but takes the times of the messages for Chain::timing.
using TimedBlockChain = BlockChainOf<DeviceTimedChain>;

/// A chain carried by a cooperative grid, with all the promises of a start and a wait on the host. Each start
/// and each wait is a barrier of the grid.
template <class View>
class GridChainOf : protected BlockChainOf<View> {
  using Blocks = BlockChainOf<View>;

 public:
  __device__ explicit GridChainOf(const View& chain) : Blocks(chain, device::PartsStart::together) {}

  /// Says that this block has stored what it has to send and is done reading what arrived. Between this
  /// call and `start` it may do work that does neither, while the others arrive here.
  __device__ void arrive() {
    before_ = device::grid_arrive(this->chain_.barrier, this->good_);
    arrived_ = true;
  }

  /// Sends what any block has stored before this call (or before `arrive`), and tells the partners that all
  /// blocks are done reading what arrived.
  __device__ void start() {
    if (!arrived_) arrive();
    arrived_ = false;
    this->good_ = device::grid_wait(this->chain_.barrier, before_);
    Blocks::start();
  }

  /// Waits for what the partners send, which every block can then read. Returns the same to all of them.
  __device__ bool wait() {
    Blocks::wait();
    return barrier();
  }

  /// Every block can read after the barrier what any block has stored before it. The barrier also tells all
  /// blocks if one has given up, so that none is left behind in the next.
  __device__ bool barrier() {
    return agreed_ = this->good_ = device::grid_barrier(this->chain_.barrier, this->good_);
  }

  /// Returns what the last `wait` or `barrier` did, which is the same on all blocks: if they leave because
  /// of it, they leave together. A block keeps what it finds out in between to itself until the next of
  /// them.
  __device__ bool good() const { return agreed_; }

  using Blocks::step;

 private:
  std::uint64_t before_ = 0;
  bool arrived_ = false;
  bool agreed_ = true;
};
using GridChain = GridChainOf<DeviceChain>;
using TimedGridChain = GridChainOf<DeviceTimedChain>;

}  // namespace tca
