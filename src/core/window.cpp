#include "tca/window.hpp"

#include "base/fail.hpp"
#include "core/window_state.hpp"

namespace tca::core {

void* window_data(const WindowState& window) { return window.memory().data(); }
std::size_t window_bytes(const WindowState& window, int rank) { return window.bytes(rank); }
int window_rank(const WindowState& window) { return window.world().rank(); }

void check_rank(const WindowState& window, int rank) {
  if (rank < 0 || rank >= window.world().size()) {
    base::fail(Errc::invalid_argument, "window {}: there is no rank {} in a world of {}", window.id(), rank,
               window.world().size());
  }
}

void put_now(WindowState& window, int rank, std::int64_t byte_offset, const void* value, std::size_t bytes) {
  const auto size = static_cast<std::int64_t>(window.bytes(rank));
  if (byte_offset < 0 || byte_offset > size - static_cast<std::int64_t>(bytes)) {
    base::fail(Errc::invalid_argument,
               "immediate put: bytes {} to {} lie outside the {} bytes of window {} on rank {}", byte_offset,
               byte_offset + static_cast<std::int64_t>(bytes), size, window.id(), rank);
  }
  window.world().fabrics().front()->put_now(window.memory(), rank, static_cast<std::uint64_t>(byte_offset),
                                            {static_cast<const std::byte*>(value), bytes});
}

}  // namespace tca::core
