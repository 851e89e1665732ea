/// @file
/// Producing what a chain sends, and using what arrives, element by element inside a kernel.
///
///     __global__ void solve(const __grid_constant__ tca::DeviceProducedChain chain,
///                           const __grid_constant__ tca::DeviceProducedPut<float3> right,
///                           const __grid_constant__ tca::DeviceProducedArrival<float3> left) {
///       tca::ProducedBlockChain steps(chain);                // every thread of the block
///       for (int n = 0; n < count; ++n) {
///         steps.start();
///         steps.for_own_elements(right, [&](unsigned i) { steps.write(right, i, make(i)); });
///         steps.for_own_elements(left, [&](unsigned i) {
///           float3 value;
///           if (steps.read(left, i, value)) use(i, value);   // waits for this element alone
///         });
///         if (!steps.wait()) return;                         // false if a partner did not produce in time
///       }
///     }
///     solve<<<blocks, threads>>>(chain.device_produced(), right.device(), left.device());
///
/// Between `start` and `wait` the elements of the step may be written and read in any order. `start` waits
/// until the partners have read the step before last, whose room it reuses; in an unguarded chain it does
/// not (see device/produced.hpp, whose `write` and `read` also work without these classes). The chain may
/// have other puts as well, which move as in tca/chain.cuh. A grid has at most 256 blocks.
///
/// In a ProducedBlockChain it is fixed which block writes and reads which element: those of
/// `for_own_elements`, by any of its threads. In a ProducedGridChain any thread of the grid may.
///
/// 12 bytes of an element travel in 16. The smallest element that wastes nothing has 12 bytes; one of 8
/// bytes takes twice its size.
#pragma once

#include "tca/chain.cuh"
#include "tca/device/produced.hpp"

namespace tca {

namespace device {

// What both kinds of chain below have in common. `Chain` is the class whose parts they are.
template <class Chain>
class ProducedPart : public Chain {
 public:
  /// Sends an element of this step. After a failed wait it sends nothing.
  template <class T>
  __device__ void write(const DeviceProducedPut<T>& put, Word i, const T& value) const {
    if (this->good_) put.write(i, value, this->step_);
  }

  /// Waits for an element of this step. Returns false, without a value, if it has given up; `wait` then
  /// returns false to all.
  template <class T>
  __device__ bool read(const DeviceProducedArrival<T>& arrival, Word i, T& value) {
    this->good_ = arrival.read(i, value, this->step_, this->chain_.limits) && this->good_;
    return this->good_;
  }

  /// The same for a large element, which takes fewer registers if it is used at once: calls use(element).
  template <class T, class Use>
  __device__ bool read_for(const DeviceProducedArrival<T>& arrival, Word i, const Use& use) {
    this->good_ = arrival.read_for(i, this->step_, this->chain_.limits, use) && this->good_;
    return this->good_;
  }

  /// Ends the step. Returns whether it succeeded, the same to every thread that calls it.
  __device__ bool wait() {
    // A warp must agree before it receives the chain's other puts; a block of several does so after them.
    const Warp warp(this->group_);
    warp.sync();
    this->good_ = warp.all(this->good_);
    return Chain::wait();
  }

  /// Calls visit(i) for this thread's share of the block's own elements of a put or an arrival.
  template <class Visit>
  __device__ void for_own_elements(const Produced& end, const Visit& visit) const {
    const Warp warp(this->group_);
    for (Word lot = own_lot(end, warp.index(), warp.count()); lot < lots_of(end.elements);
         lot += warp.count()) {
      const Word i = lot * elements_per_lot + warp.lane();
      if (i < end.elements) visit(i);
    }
  }

 protected:
  __device__ explicit ProducedPart(const DeviceProducedChain& chain) : Chain(chain), elements_(chain) {
    if (chain.produced_guarded == 0) return;
    sent_ = acks_of_sent(chain, this->group_);
    arrived_ = acks_of_arrived(chain, this->group_);
  }

  // Says that the step before has been read, once `start` has counted on.
  __device__ void release() const {
    if (elements_.produced_checked != 0) check_elements(elements_, this->step_ - 1, this->group_);
    if (elements_.produced_guarded != 0) acknowledge_elements(arrived_, this->step_ - 1, this->group_);
  }
  __device__ void await_room(Word step) {
    if (elements_.produced_guarded == 0) return;
    const bool mine = await_room_for_elements(sent_, this->chain_.limits, step, this->group_);
    this->good_ = this->group_.all(this->good_ && mine);
  }

 private:
  const DeviceProducedChain& elements_;
  OwnAcks sent_, arrived_;
};

}  // namespace device

/// A part of a chain with produced puts, carried by the calling block; see BlockChain. Every thread of the block
/// calls `start` and `wait`.
class ProducedBlockChain : public device::ProducedPart<BlockChain> {
 public:
  __device__ explicit ProducedBlockChain(const DeviceProducedChain& chain) : ProducedPart(chain) {}

  /// Begins the next step, and ends the use of what the last one delivered.
  __device__ void start() {
    await_room(step_ + 1);
    BlockChain::start();
    release();
  }
};

/// A chain with produced puts, carried by a cooperative grid; see GridChain. `start` and `wait` are barriers of the
/// grid, but `write` and `read` are not.
class ProducedGridChain : public device::ProducedPart<GridChain> {
 public:
  __device__ explicit ProducedGridChain(const DeviceProducedChain& chain) : ProducedPart(chain) {}

  /// Begins the next step. Before the barrier, so that after it any block may write any element.
  __device__ void start() {
    await_room(step_ + 1);
    GridChain::start();
    release();
  }

 private:
  using GridChain::arrive;
};

}  // namespace tca
