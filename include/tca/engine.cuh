/// @file
/// With an EngineChain, a kernel that is too small, or too busy, to carry a committed chain has the
/// resident engine run it (WorldOptions::engine_blocks).
///
///     __global__ void solve(const __grid_constant__ tca::DeviceDoorbell doorbell, ...) {
///       tca::EngineChain halo(doorbell);            // one thread of the grid
///       ...                                     // a barrier after other threads' stores that are to be sent
///       halo.start();
///       ...                                     // any other work meanwhile
///       if (halo.wait()) ...                    // another barrier before other threads read what arrived
///     }
///     solve<<<blocks, threads>>>(chain.doorbell(), ...);
///
/// Such starts mix with all others of the chain, one after the other. The engine runs two such chains of a
/// rank at a time, in the order in which they were posted; ranks that post more than two at once must post
/// them in the same order. If the engine has left the GPU for lack of work, the host brings it back, which
/// takes up to a millisecond.
#pragma once

#include "tca/device/doorbell.hpp"
#include "tca/device/wait_limits.hpp"

namespace tca {

/// One thread makes all calls.
class EngineChain {
 public:
  __device__ explicit EngineChain(const DeviceDoorbell& doorbell)
      : doorbell_(doorbell), steps_(device::load_relaxed(doorbell.finished)) {}

  /// Sends what this thread has stored or seen stored.
  __device__ void start() {
    ++steps_;
    const device::Word position = atomicAdd(doorbell_.tail, 1u) + 1;
    const std::uint64_t command =
        device::EngineCommand::make(position, doorbell_.chain | device::EngineCommand::by_kernel, 0);
    // Release: pairs with the acquire of the engine's dispatcher. The fence pairs with the one between its
    // `awake` = 0 and its last look at the ring: either the engine finds this command or this thread finds it
    // gone.
    asm volatile("st.release.gpu.global.u64 [%0], %1;\n\tfence.sc.gpu;" ::"l"(
                     &doorbell_.ring[position % device::EngineCommand::count].command),
                 "l"(command)
                 : "memory");
    // Acquire and release: the host, when it receives the call, finds that the engine is leaving or has
    // left.
    if (device::load_acquire(doorbell_.awake) == 0) device::store_release(doorbell_.call, 1);
  }

  /// Returns whether the step has finished, without waiting. Acquire: pairs with the engine's release.
  __device__ bool test() const { return device::reached(device::load_acquire(doorbell_.finished), steps_); }

  /// Waits until the step has finished. Returns false if a partner has not signalled within the chain's
  /// time limit or the world has met an error; every later call then returns false at once, and the host
  /// reports which rank is missing.
  __device__ bool wait() {
    device::BoundedWait waiting(doorbell_.limits, steps_);
    while (good_ && !test()) good_ = waiting.keep_polling(device::no_link);
    return good_;
  }

  __device__ bool good() const { return good_; }

 private:
  const DeviceDoorbell& doorbell_;
  device::Word steps_;
  bool good_ = true;
};

}  // namespace tca
