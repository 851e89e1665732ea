// What the templates of tca/window.hpp call; programs name none of it.
#pragma once

#include <cstddef>
#include <cstdint>
#include <limits>
#include <span>

#include "tca/detail/api.hpp"
#include "tca/device_window.hpp"
#include "tca/layout.hpp"

namespace tca::core {

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

// This rank's part, and how many bytes a rank's part has. Neither changes as long as the window lives.
TCA_API void* window_data(const WindowState& window);
TCA_API std::size_t window_bytes(const WindowState& window, int rank);
TCA_API int window_rank(const WindowState& window);
TCA_API std::uint32_t window_id(const WindowState& window);
TCA_API const DeviceWindow<std::byte>& window_device(const WindowState& window);

// Copy between this rank's part, from element `offset` on, and host memory.
TCA_API void window_read(const WindowState& window, std::int64_t offset, std::span<std::byte> into,
                         std::size_t element_bytes);
TCA_API void window_write(const WindowState& window, std::int64_t offset, std::span<const std::byte> from,
                          std::size_t element_bytes);

// Throws Error{invalid_argument} for a rank outside the window's world.
TCA_API void check_rank(const WindowState& window, int rank);

TCA_API void put_now(WindowState& window, int rank, std::int64_t offset, const void* value,
                     std::size_t element_bytes);

}  // namespace tca::core
