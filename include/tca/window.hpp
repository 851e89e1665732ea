// A memory region that every rank registers together, so that (rank, offset) names any element in it.
#pragma once

#include <cstddef>
#include <cstdint>
#include <cstring>
#include <memory>
#include <span>
#include <type_traits>

#include "tca/device_window.hpp"
#include "tca/layout.hpp"

namespace tca {

namespace core {
class WindowState;
// Throws Error{invalid_argument}, which names the window, where the sum overflows.
std::int64_t moved(const WindowState& window, std::int64_t offset, Count by);
}  // namespace core

// What a window may hold: bytes that mean the same in another rank's memory. Windows begin at a cache line.
template <class T>
concept Element =
    std::is_trivially_copyable_v<T> && !std::is_pointer_v<T> && !std::is_const_v<T> && alignof(T) <= 64;

// The largest value an immediate put carries: one cache line.
inline constexpr std::size_t max_immediate_bytes = 64;

// An element of a window on some rank: what a put writes to.
template <Element T>
class Remote {
 public:
  // The element so many further on. Whether the target has it is not looked at here, but by `put` below and
  // Chain::commit.
  Remote at(Count offset) const { return Remote(window_, rank_, core::moved(*window_, offset_, offset)); }
  int rank() const { return rank_; }

  // Immediate put: `value` is taken now and stored at once, past any chain. It is visible to the target no
  // later than the next signal that this rank sends it (a chain's `wait` there). Nothing guards it: the
  // caller knows that the target is not reading. Throws Error{invalid_argument} outside the target's window.
  void put(const T& value) const requires(sizeof(T) <= max_immediate_bytes);

 private:
  template <Element>
  friend class Window;
  friend class Chain;
  Remote(std::shared_ptr<core::WindowState> window, int rank, std::int64_t offset)
      : window_(std::move(window)), rank_(rank), offset_(offset) {}

  std::shared_ptr<core::WindowState> window_;
  int rank_;
  std::int64_t offset_;  // elements
};

// An element of this rank's own part of a window: what a put reads from.
template <Element T>
class Local {
 public:
  // The element so many further on. Whether this rank has it is not looked at here, but by Chain::put.
  Local at(Count offset) const { return Local(window_, core::moved(*window_, offset_, offset)); }

 private:
  template <Element>
  friend class Window;
  friend class Chain;
  Local(std::shared_ptr<core::WindowState> window, std::int64_t offset)
      : window_(std::move(window)), offset_(offset) {}

  std::shared_ptr<core::WindowState> window_;
  std::int64_t offset_;  // elements
};

namespace core {
void* window_data(const WindowState& window);
std::size_t window_bytes(const WindowState& window, int rank);
int window_rank(const WindowState& window);
std::uint32_t window_id(const WindowState& window);
void window_read(const WindowState& window, std::int64_t offset, std::span<std::byte> into,
                 std::size_t element_bytes);
void window_write(const WindowState& window, std::int64_t offset, std::span<const std::byte> from,
                  std::size_t element_bytes);
void check_rank(const WindowState& window, int rank);
void put_now(WindowState& window, int rank, std::int64_t offset, const void* value,
             std::size_t element_bytes);
const DeviceWindow<std::byte>& window_device(const WindowState& window);
}  // namespace core

// A handle: copies name the same window, which lives until its last handle and the last chain that uses it. What is still
// to run with it on streams is over before.
//
// The memory lives where the world's fabric computes: `data`, `operator[]` and `elements` are host memory on shm, mpi,
// shm+mpi and sim, and device pointers, which only kernels and CUDA calls may follow, on cuda and cuda+mpi. `read` and
// `write` work on every fabric.
//
// Messages and Chain::explain call windows by number. A world counts, from 0 on and in the order in which they are
// made, what its ranks make together: windows, committed chains and teams, also those that a halo or a collective makes
// for itself. The first window of a program that begins by making windows is window 0, the second window 1.
template <Element T>
class Window {
 public:
  // Points to nothing where this rank has no elements.
  T* data() const { return static_cast<T*>(core::window_data(*state_)); }
  std::size_t size() const { return core::window_bytes(*state_, core::window_rank(*state_)) / sizeof(T); }
  T& operator[](std::size_t i) const { return data()[i]; }
  std::span<T> elements() const { return {data(), size()}; }

  // What messages call it; the same on every rank.
  std::uint32_t number() const { return core::window_id(*state_); }

  // Copy between this rank's elements from `offset` on and host memory; done when they return. No chain's step orders
  // them: read after its `wait`, write before its `start`. Throw Error{invalid_argument} outside the window.
  void read(Count offset, std::span<T> into) const {
    core::window_read(*state_, offset.value(), std::as_writable_bytes(into), sizeof(T));
  }
  void write(Count offset, std::span<const T> from) const {
    core::window_write(*state_, offset.value(), std::as_bytes(from), sizeof(T));
  }

  // What a kernel needs to put by itself; see tca/window.cuh. Valid as long as the window. Throws Error{invalid_argument}
  // where the fabric has no kernels, and in worlds of more than DeviceWindow::max_ranks.
  DeviceWindow<T> device() const;

  // How many elements another rank registered; ranks may differ. Throws Error{invalid_argument} for a rank outside the
  // world.
  std::size_t size_on(int rank) const {
    core::check_rank(*state_, rank);
    return core::window_bytes(*state_, rank) / sizeof(T);
  }

  // The first element on a rank. Throws Error{invalid_argument} for a rank outside the world.
  Remote<T> on(int rank) const {
    core::check_rank(*state_, rank);
    return Remote<T>(state_, rank, 0);
  }
  // An element of this rank's part, which is looked at no sooner than by Chain::put.
  Local<T> at(Count offset) const { return Local<T>(state_, offset.value()); }

 private:
  friend class Halo;
  friend class World;
  explicit Window(std::shared_ptr<core::WindowState> state) : state_(std::move(state)) {}

  std::shared_ptr<core::WindowState> state_;
};

template <Element T>
DeviceWindow<T> Window<T>::device() const {
  const DeviceWindow<std::byte>& bytes = core::window_device(*state_);
  DeviceWindow<T> view;
  view.rank = bytes.rank;
  view.size = bytes.size;
  for (std::uint32_t rank = 0; rank < bytes.size; ++rank) {
    view.parts[rank] = reinterpret_cast<T*>(bytes.parts[rank]);
    view.elements[rank] = bytes.elements[rank] / sizeof(T);
  }
  view.number = bytes.number;
  view.refused = bytes.refused;
  view.refusal = bytes.refusal;
  return view;
}

template <Element T>
void Remote<T>::put(const T& value) const requires(sizeof(T) <= max_immediate_bytes) {
  core::put_now(*window_, rank_, offset_, &value, sizeof(T));
}

}  // namespace tca
