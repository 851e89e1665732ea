/// @file
/// A window as bytes with the size of an element, for programs that do not know its type at compile time.
/// `Window<T>` is a thin layer over it, and makes the same promises.
#pragma once

#include <cstddef>
#include <cstdint>
#include <limits>
#include <memory>
#include <span>
#include <string>
#include <utility>

#include "tca/detail/api.hpp"
#include "tca/detail/moved.hpp"
#include "tca/device/window.hpp"
#include "tca/layout.hpp"

namespace tca {

class Chain;
class World;

namespace raw {
class Window;
}

namespace core {

class WindowState;

// Throws Error{invalid_argument}, which names the window: `offset` + `by` overflows.
[[noreturn]] TCA_API void fail_offset(const WindowState* window, std::int64_t offset, Count by);

// `offset` + `by`, in elements. Throws as `fail_offset` does.
inline std::int64_t advanced(const WindowState* window, std::int64_t offset, Count by) {
  std::int64_t sum = 0;
  const bool wrapped = by.value() == std::numeric_limits<std::int64_t>::min();
  if (wrapped || __builtin_add_overflow(offset, by.value(), &sum)) [[unlikely]]
    fail_offset(window, offset, by);
  return sum;
}

// The first element of this rank's part. Throws Error{invalid_argument} if elements have another size.
TCA_API void* window_data(const raw::Window& window, std::size_t element_bytes);

}  // namespace core

/// The largest value that an immediate put carries, in bytes: one cache line.
inline constexpr std::size_t max_immediate_bytes = 64;

namespace raw {

/// An element of a window on some rank, which a put writes to.
class TCA_API Remote {
 public:
  /// Returns the element `offset` elements further on; see tca::Remote::at.
  [[nodiscard]] Remote at(Count offset) const& { return Remote(*this).at(offset); }
  [[nodiscard]] Remote at(Count offset) && {
    offset_ = core::advanced(window_.get(), offset_, offset);
    return std::move(*this);
  }
  int rank() const { return rank_; }

  /// Puts one element at once, outside of any chain, as tca::Remote::put does. Throws
  /// Error{invalid_argument} outside the target's part of the window, and for elements of more than
  /// `max_immediate_bytes`.
  void put(const void* element) const;

 private:
  friend class Window;
  friend class tca::Chain;
  Remote(std::shared_ptr<core::WindowState> window, int rank, std::int64_t offset)
      : window_(std::move(window)), rank_(rank), offset_(offset) {}

  std::shared_ptr<core::WindowState> window_;
  int rank_;
  std::int64_t offset_;  // elements
};

/// An element of this rank's own part of a window, which a put reads from.
class Local {
 public:
  /// Returns the element `offset` elements further on; see tca::Local::at.
  [[nodiscard]] Local at(Count offset) const& { return Local(*this).at(offset); }
  [[nodiscard]] Local at(Count offset) && {
    offset_ = core::advanced(window_.get(), offset_, offset);
    return std::move(*this);
  }

 private:
  friend class Window;
  friend class tca::Chain;
  Local(std::shared_ptr<core::WindowState> window, std::int64_t offset)
      : window_(std::move(window)), offset_(offset) {}

  std::shared_ptr<core::WindowState> window_;
  std::int64_t offset_;  // elements
};

/// A handle, like a tca::Window: copies name the same window, and one that was moved from throws
/// Error{invalid_argument}. Offsets and sizes count elements.
class TCA_API Window {
 public:
  /// Collective. Makes a window with zeroed memory for `elements` elements of `element_bytes` bytes; see
  /// World::window, which throws the same. Also throws Error{invalid_argument} for elements of no bytes.
  Window(World& world, Count elements, std::size_t element_bytes, std::string name = {});

  /// Collective. Makes a window from existing memory; see World::window.
  Window(World& world, void* memory, Count elements, std::size_t element_bytes, std::string name = {});

  /// Collective. Makes a window in host memory; see World::host_window.
  [[nodiscard]] static Window on_host(World& world, Count elements, std::size_t element_bytes,
                                      std::string name = {});

  /// Returns the first byte of this rank's part, which may be an accelerator's address; null if this rank
  /// has none.
  void* data() const;
  std::size_t element_bytes() const;
  /// Return the number of elements of this rank's part and of another rank's. Throws
  /// Error{invalid_argument} for a rank outside the world.
  std::size_t size() const;
  std::size_t size_on(int rank) const;
  /// Returns the number by which messages refer to this window if it has no name; it is the same on every
  /// rank.
  std::uint32_t number() const;

  /// Copy whole elements between host memory and this rank's part, from element `offset` on; see
  /// tca::Window::read. Throw Error{invalid_argument} outside this rank's part, and for a part of an element.
  void read(Count offset, std::span<std::byte> into) const;
  void write(Count offset, std::span<const std::byte> from) const;

  /// Returns what a kernel needs to put by itself, counted in bytes; see tca::Window::device.
  [[nodiscard]] const DeviceWindow<std::byte>& device() const;

  /// Returns the first element of a rank's part. Throws Error{invalid_argument} for a rank outside the world.
  [[nodiscard]] Remote on(int rank) const;
  /// Returns element `offset` of this rank's part. Whether it is there is checked later, by Chain::put.
  [[nodiscard]] Local at(Count offset) const { return Local(state_, offset.value()); }

 private:
  friend class core::WindowState;
  explicit Window(std::shared_ptr<core::WindowState> state) : state_(std::move(state)) {}
  const core::WindowState& state() const { return core::present(state_, "window"); }

  std::shared_ptr<core::WindowState> state_;
};

}  // namespace raw
}  // namespace tca
