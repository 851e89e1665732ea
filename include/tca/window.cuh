/// @file
/// A kernel may put into a window on another rank by itself, at any time and without a chain.
///
///     __global__ void push(const __grid_constant__ tca::DeviceWindow<double> u,
///                          const __grid_constant__ tca::DeviceTeam t) {
///       tca::BlockWindow window(u);                       // every thread of a block
///       tca::BlockTeam team(t);                           // tca/team.cuh
///       edge(window.data());
///       window.put(right, ghost, window.data() + inner, n);
///       team.signal(right);                               // the elements arrive before the signal
///       if (team.wait_signal(left)) use(window.data() + ghost);
///     }
///     push<<<1, 256>>>(u.device(), team.device());
///
/// A put does not wait: it returns when its stores have been issued. They are in the target's memory no
/// later than the next signal that the same block raises there with `BlockTeam::signal`, and are visible to
/// any thread that has waited for that signal. The signal's store is a release of system scope
/// (st.release.sys) after a barrier of the block: it becomes visible only after everything that any thread
/// of the block has stored before the barrier. `BlockTeam::barrier` does the same for all ranks. Stores of
/// other blocks are covered if there is a barrier of the grid (GridChain::barrier) between them and the
/// signal. Chains' steps and allreduce do not order puts: their packets carry no fence.
///
/// Nothing guards a put. The caller must know that the target is not reading there, for example because it
/// has signalled back.
///
/// A put outside the target's part stores nothing and returns false, on every thread that makes it;
/// World::check then throws Error{invalid_argument}, which says what the first such put wanted.
#pragma once

#include "tca/device/groups.cuh"
#include "tca/device/puts.hpp"

namespace tca {

namespace device {

// A single thread as the group of a put.
struct Thread {
  static constexpr __device__ Word lane() { return 0; }
  static constexpr __device__ Word lanes() { return 1; }
  // Keeps the compiler from moving memory accesses across: the copy loads as numbers what was stored as
  // another type.
  static __device__ void sync() { asm volatile("" ::: "memory"); }
};

// The part of a window's interface that both kinds of puts have.
template <class T>
class WindowParts {
 public:
  // `window` must outlive this, as a kernel's parameter does.
  __device__ explicit WindowParts(const DeviceWindow<T>& window) : window_(window) {}

  __device__ Word rank() const { return window_.rank; }
  __device__ Word size() const { return window_.size; }
  // This rank's own part.
  __device__ T* data() const { return window_.parts[window_.rank]; }
  __device__ std::uint64_t size_on(Word rank) const { return window_.elements[rank]; }

 protected:
  const DeviceWindow<T>& window_;
};

}  // namespace device

/// Puts by one thread, independent of the others. They suit single elements: one thread has few stores in
/// flight.
template <class T>
class ThreadWindow : public device::WindowParts<T> {
 public:
  using device::WindowParts<T>::WindowParts;

  __device__ bool put(device::Word rank, std::uint64_t offset, const T& value) const {
    return put_value(this->window_, rank, offset, value, device::Thread());
  }

  /// Puts `count` elements that this thread sees. They do not overlap the target, and may be overwritten when
  /// the call returns.
  __device__ bool put(device::Word rank, std::uint64_t offset, const T* from, std::uint64_t count) const {
    return put_elements(this->window_, rank, offset, from, count, device::Thread());
  }
};

/// Puts by a block. Every thread of the block makes every call, with the same arguments.
template <class T>
class BlockWindow : public device::WindowParts<T> {
 public:
  using device::WindowParts<T>::WindowParts;

  /// Puts the first thread's value, without a barrier.
  __device__ bool put(device::Word rank, std::uint64_t offset, const T& value) const {
    return put_value(this->window_, rank, offset, value, device::Block(0, 1));
  }

  /// Puts `count` elements of shared or global memory as any thread of the block has left them. They do not
  /// overlap the target, and any thread may overwrite them when the call returns. An access moves 16 bytes
  /// if both addresses have the same remainder modulo 16, and otherwise as many as their distance allows.
  __device__ bool put(device::Word rank, std::uint64_t offset, const T* from, std::uint64_t count) const {
    return put_elements(this->window_, rank, offset, from, count, device::Block(0, 1));
  }
};

template <class T>
ThreadWindow(const DeviceWindow<T>&) -> ThreadWindow<T>;
template <class T>
BlockWindow(const DeviceWindow<T>&) -> BlockWindow<T>;

}  // namespace tca
