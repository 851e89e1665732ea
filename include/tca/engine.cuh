/// @file
/// An EngineChain lets a kernel that is too small, or too busy, to carry a committed chain have the resident
/// engine run it (WorldOptions::engine_blocks).
///
///     __global__ void solve(const __grid_constant__ tca::DeviceBell bell, ...) {
///       tca::EngineChain halo(bell);            // one thread of the grid
///       ...                                     // a barrier behind what other threads stored to be sent
///       halo.start();
///       ...                                     // any work beside it
///       if (halo.wait()) ...                    // another barrier before other threads read what arrived
///     }
///     solve<<<blocks, threads>>>(chain.bell(), ...);
///
/// Such starts mix with all others of the chain, one after the other. The engine runs two such chains of a
/// rank at a time, in the order in which they were rung, and further ones when it is through with one of
/// those; ranks that ring more than two at once ring them in the same order. Where the engine has left the
/// GPU for want of work the host brings it back, which takes up to a millisecond.
#pragma once

#include "tca/device/limits.hpp"
#include "tca/device_bell.hpp"

namespace tca {

/// One thread makes all calls.
class EngineChain {
 public:
  __device__ explicit EngineChain(const DeviceBell& bell)
      : bell_(bell), steps_(device::load_relaxed(bell.finished)) {}

  /// Sends what this thread has stored or seen stored.
  __device__ void start() {
    ++steps_;
    const device::Word position = atomicAdd(bell_.rung, 1u) + 1;
    const std::uint64_t command = device::Bell::make(position, bell_.chain | device::Bell::by_kernel, 0);
    // Release: pairs with the acquire of the engine's listener. The fence pairs with the one between its
    // `awake` = 0 and its last look at the ring: either the engine finds this command or this thread finds it
    // gone.
    asm volatile("st.release.gpu.global.u64 [%0], %1;\n\tfence.sc.gpu;" ::"l"(
                     &bell_.ring[position % device::Bell::count].command),
                 "l"(command)
                 : "memory");
    // Acquire and release: the host, when it hears the call, finds that the engine is leaving or has left.
    if (device::load_acquire(bell_.awake) == 0) device::store_release(bell_.call, 1);
  }

  /// Returns whether the step has finished, without waiting. Acquire: pairs with the engine's release.
  __device__ bool test() const { return device::reached(device::load_acquire(bell_.finished), steps_); }

  /// Waits until the step has finished. False when a partner has not signalled within the chain's time limit
  /// or the world has met an error; every later call then returns false at once, and the host reports who is
  /// missing.
  __device__ bool wait() {
    device::BoundedWait waiting(bell_.limits, steps_);
    while (good_ && !test()) good_ = waiting.keep_polling(device::no_link);
    return good_;
  }

  __device__ bool good() const { return good_; }

 private:
  const DeviceBell& bell_;
  device::Word steps_;
  bool good_ = true;
};

}  // namespace tca
