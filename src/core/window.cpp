#include "tca/window.hpp"

#include <limits>

#include "base/fail.hpp"
#include "core/window_state.hpp"
#include "core/words.hpp"

namespace tca::core {

namespace {

// Returns the byte of this rank's part at which a transfer of `bytes` from element `offset` on begins. Throws
// Error{invalid_argument} when it does not fit.
std::uint64_t first_byte(const WindowState& window, const char* what, std::int64_t offset, std::size_t bytes,
                         std::size_t element_bytes) {
  const int rank = window.world().rank();
  const auto size = static_cast<std::int64_t>(element_bytes);
  const auto count = static_cast<std::int64_t>(bytes) / size;
  const auto have = static_cast<std::int64_t>(window.bytes(rank)) / size;
  if (offset < 0 || offset > have - count) {
    base::fail(Errc::invalid_argument, "{} of {} from element {} on: {} has {} on rank {}", what,
               count_in_words(count), offset, window.title(), count_in_words(have), rank);
  }
  return static_cast<std::uint64_t>(offset * size);
}

}  // namespace

void* window_data(const WindowState& window) { return window.memory().data(); }
std::size_t window_bytes(const WindowState& window, int rank) { return window.bytes(rank); }
int window_rank(const WindowState& window) { return window.world().rank(); }
std::uint32_t window_id(const WindowState& window) { return window.id(); }

void window_read(const WindowState& window, std::int64_t offset, std::span<std::byte> into,
                 std::size_t element_bytes) {
  const std::uint64_t first = first_byte(window, "read", offset, into.size(), element_bytes);
  if (!into.empty()) window.memory().read(first, into);
}

void window_write(const WindowState& window, std::int64_t offset, std::span<const std::byte> from,
                  std::size_t element_bytes) {
  const std::uint64_t first = first_byte(window, "write", offset, from.size(), element_bytes);
  if (!from.empty()) window.memory().write(first, from);
}

void check_rank(const WindowState& window, int rank) {
  if (rank < 0 || rank >= window.world().size()) {
    base::fail(Errc::invalid_argument, "{}: there is no rank {} in a world of {}", window.title(), rank,
               window.world().size());
  }
}

void fail_moved_from(const char* what) {
  base::fail(Errc::invalid_argument, "this {} was moved from; use the one that it was moved to", what);
}

void fail_offset(const WindowState* window, std::int64_t offset, Count by) {
  const std::string title = present(window, "element of a window").title();
  if (by.value() == std::numeric_limits<std::int64_t>::min()) {
    base::fail(Errc::invalid_argument,
               "at in {}: an offset of {} and a number of elements beyond 63 bits, as an unsigned difference "
               "below zero is",
               title, offset);
  }
  base::fail(Errc::invalid_argument, "at in {}: an offset of {} and {} elements overflows 63 bits", title,
             offset, by.value());
}

void put_now(WindowState& window, int rank, std::int64_t offset, const void* value,
             std::size_t element_bytes) {
  const auto have = static_cast<std::int64_t>(window.bytes(rank) / element_bytes);
  if (offset < 0 || offset >= have) {
    base::fail(Errc::invalid_argument, "immediate put: there is no element {} of {} on rank {}, which has {}",
               offset, window.title(), rank, count_in_words(have));
  }
  WorldState& world = window.world();
  const std::size_t fabric = world.fabric_to(rank, window.first_fabric());
  if (window.first_fabric() > 0 && fabric != world.fabric_to(rank)) world.deferred_steps().put_past_signals();
  world.fabrics()[fabric]->put_now(*window.memory_of(fabric), rank,
                                   static_cast<std::uint64_t>(offset) * element_bytes,
                                   {static_cast<const std::byte*>(value), element_bytes});
}

const DeviceWindow<std::byte>& window_device(const WindowState& window) {
  const WorldState& world = window.world();
  if (world.size() > static_cast<int>(DeviceWindow<std::byte>::max_ranks)) {
    base::fail(Errc::invalid_argument, "device() of {}: a kernel sees at most {} ranks, this world has {}",
               window.title(), DeviceWindow<std::byte>::max_ranks, world.size());
  }
  if (const DeviceWindow<std::byte>* device = window.memory().device_window()) return *device;
  base::fail(Errc::invalid_argument,
             "device() of {}: no kernel can put into a window of the fabric {}; choose the fabric cuda "
             "(WorldOptions::fabric or OPENTCA_FABRIC)",
             window.title(), world.fabrics().front()->name());
}

}  // namespace tca::core
