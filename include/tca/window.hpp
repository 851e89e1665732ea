/// @file
/// A memory region that every rank registers together, so that (rank, offset) names any element in it.
#pragma once

#include <cstddef>
#include <cstdint>
#include <cstring>
#include <memory>
#include <span>
#include <type_traits>
#include <utility>

#include "tca/raw/window.hpp"

namespace tca {

/// A type that a window may hold: its bytes mean the same in another rank's memory, and its alignment is at
/// most that of a window, which begins at a cache line.
template <class T>
concept Element =
    std::is_trivially_copyable_v<T> && !std::is_pointer_v<T> && !std::is_const_v<T> && alignof(T) <= 64;

/// An element of a window on some rank, which a put writes to.
template <Element T>
class Remote {
 public:
  /// Returns the element `offset` elements further on. Whether the target has it is checked later, by `put`
  /// below and Chain::commit. Throws Error{invalid_argument} if the sum overflows 63 bits.
  [[nodiscard]] Remote at(Count offset) const& { return Remote(*this).at(offset); }
  [[nodiscard]] Remote at(Count offset) && { return Remote(std::move(untyped_).at(offset)); }
  int rank() const { return untyped_.rank(); }

  /// Puts `value` at once, outside of any chain. The target sees it no later than the next signal from this
  /// rank: once a chain's `wait` there has returned from a step that this rank started afterwards. Nothing
  /// guards the put: the caller ensures that the target is not reading. Throws Error{invalid_argument}
  /// outside the target's part of the window.
  void put(const T& value) const requires(sizeof(T) <= max_immediate_bytes) { untyped_.put(&value); }

  /// Returns the same without its type; see tca/raw.hpp.
  const raw::Remote& untyped() const { return untyped_; }

 private:
  template <Element>
  friend class Window;
  explicit Remote(raw::Remote untyped) : untyped_(std::move(untyped)) {}

  raw::Remote untyped_;
};

/// An element of this rank's own part of a window, which a put reads from.
template <Element T>
class Local {
 public:
  /// Returns the element `offset` elements further on. Whether this rank has it is checked later, by
  /// Chain::put. Throws Error{invalid_argument} if the sum overflows 63 bits.
  [[nodiscard]] Local at(Count offset) const& { return Local(*this).at(offset); }
  [[nodiscard]] Local at(Count offset) && { return Local(std::move(untyped_).at(offset)); }

  /// Returns the same without its type; see tca/raw.hpp.
  const raw::Local& untyped() const { return untyped_; }

 private:
  template <Element>
  friend class Window;
  explicit Local(raw::Local untyped) : untyped_(std::move(untyped)) {}

  raw::Local untyped_;
};

/// A Window is a handle: copies name the same window, which lives as long as its last handle and the last
/// chain that uses it. Before that, synchronise with all work on streams that still uses it. A window that
/// was moved from has no elements; its other calls throw Error{invalid_argument}.
///
/// The memory lives where the world's fabric computes. On shm, mpi, shm+mpi and sim `data`, `operator[]`,
/// `elements` and the iterators give host memory. On cuda and cuda+mpi they give device memory, which only
/// kernels and CUDA calls may access, except for World::host_window, which the host may access too. `read`
/// and `write` work on every fabric.
///
/// The handle itself holds the address of this rank's part, so a loop over u[i] is as fast as one over a
/// pointer. For windows of single bytes (char, std::byte) loop over elements() instead: as far as a
/// compiler knows, a store of a byte may change the handle too.
///
/// Messages and Chain::explain refer to a window by the name given to World::window, otherwise by number. A
/// world numbers all windows, committed chains and teams from 0 in the order in which they are made,
/// including those that a collective makes for itself. In a program that begins by making windows the first
/// one is window 0 and the second one is window 1.
template <Element T>
class Window {
 public:
  /// Gives the elements of a window their type. Throws Error{invalid_argument} if they have another size.
  explicit Window(raw::Window untyped)
      : untyped_(std::move(untyped)),
        first_(static_cast<T*>(core::window_data(untyped_, sizeof(T)))),
        last_(first_ + untyped_.size()) {}

  /// Returns the window without its type; see tca/raw.hpp.
  const raw::Window& untyped() const { return untyped_; }

  /// Returns the first element of this rank's part; null if this rank has no elements.
  T* data() const { return first_; }
  /// Returns the number of elements of this rank's part.
  std::size_t size() const { return static_cast<std::size_t>(last_ - first_); }
  /// Returns an element of this rank's part. The index is anything that can index an array, an enum
  /// included; it is not checked.
  template <class I>
  requires requires(T* elements, I i) { elements[i]; }
  T& operator[](I i) const { return first_[i]; }
  [[nodiscard]] std::span<T> elements() const { return {first_, last_}; }
  T* begin() const { return first_; }
  T* end() const { return last_; }

  /// Returns the number by which messages refer to this window if it has no name; it is the same on every
  /// rank.
  std::uint32_t number() const { return untyped_.number(); }

  /// Copy between host memory and as many elements of this rank's part, from element `offset` on. The copy is
  /// complete when they return. They are not ordered with a chain's step: read after its `wait`, and write
  /// before its `start`. They throw Error{invalid_argument} outside this rank's part.
  void read(Count offset, std::span<T> into) const { untyped_.read(offset, std::as_writable_bytes(into)); }
  void write(Count offset, std::span<const T> from) const { untyped_.write(offset, std::as_bytes(from)); }

  /// Returns what a kernel needs to put by itself; see tca/window.cuh. It is valid as long as the window.
  /// Throws Error{invalid_argument} if the fabric has no kernels, and in worlds of more than
  /// DeviceWindow::max_ranks ranks.
  [[nodiscard]] DeviceWindow<T> device() const;

  /// Returns the number of elements of a rank's part; ranks may differ. Throws Error{invalid_argument} for a
  /// rank outside the world.
  std::size_t size_on(int rank) const { return untyped_.size_on(rank); }

  /// Returns the first element of a rank's part. Throws Error{invalid_argument} for a rank outside the world.
  [[nodiscard]] Remote<T> on(int rank) const { return Remote<T>(untyped_.on(rank)); }
  /// Returns element `offset` of this rank's part. Whether it is there is checked later, by Chain::put.
  [[nodiscard]] Local<T> at(Count offset) const { return Local<T>(untyped_.at(offset)); }

  Window(const Window&) = default;
  Window& operator=(const Window&) = default;
  Window(Window&& other) noexcept
      : untyped_(std::move(other.untyped_)),
        first_(std::exchange(other.first_, nullptr)),
        last_(std::exchange(other.last_, nullptr)) {}
  Window& operator=(Window&& other) noexcept {
    Window(std::move(other)).swap(*this);
    return *this;
  }
  ~Window() = default;

 private:
  void swap(Window& other) noexcept {
    std::swap(untyped_, other.untyped_);
    std::swap(first_, other.first_);
    std::swap(last_, other.last_);
  }

  raw::Window untyped_;
  // This rank's part. Two pointers, as a store to an element of type std::size_t might change a size.
  T* first_ = nullptr;
  T* last_ = nullptr;
};

template <Element T>
DeviceWindow<T> Window<T>::device() const {
  const DeviceWindow<std::byte>& bytes = untyped_.device();
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

}  // namespace tca
