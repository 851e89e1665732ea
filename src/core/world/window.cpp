#include "tca/raw/window.hpp"

#include <limits>

#include "base/fail.hpp"
#include "core/words.hpp"
#include "core/world/window_state.hpp"

namespace tca {

namespace core {

namespace {

// Returns the byte of this rank's part at which a transfer of `bytes` from element `offset` begins. Throws
// Error{invalid_argument} if it does not fit.
std::uint64_t first_byte(const WindowState& window, const char* what, std::int64_t offset,
                         std::size_t bytes) {
  const int rank = window.world().rank();
  const auto size = static_cast<std::int64_t>(window.element_bytes());
  const auto count = static_cast<std::int64_t>(bytes) / size;
  const auto have = static_cast<std::int64_t>(window.bytes(rank)) / size;
  if (bytes % window.element_bytes() != 0) {
    base::fail(Errc::invalid_argument, "{} of {} bytes of {}, whose elements have {}; give whole elements",
               what, bytes, window.title(), size);
  }
  if (offset < 0 || offset > have - count) {
    base::fail(Errc::invalid_argument, "{} of {} from element {} on: {} has {} on rank {}", what,
               count_in_words(count), offset, window.title(), count_in_words(have), rank);
  }
  return static_cast<std::uint64_t>(offset * size);
}

void check_rank(const WindowState& window, int rank) {
  if (rank < 0 || rank >= window.world().size()) {
    base::fail(Errc::invalid_argument, "{}: there is no rank {} in a world of {}", window.title(), rank,
               window.world().size());
  }
}

// The name that messages use for a window with this name; empty if it has none.
std::string title_of(const std::string& name) {
  return name.empty() ? std::string() : fmt::format("window '{}'", name);
}

}  // namespace

void* window_data(const raw::Window& window, std::size_t element_bytes) {
  if (window.element_bytes() != element_bytes) {
    base::fail(Errc::invalid_argument, "{} has elements of {} bytes, and is given a type of {}",
               WindowState::of(window)->title(), window.element_bytes(), element_bytes);
  }
  return window.data();
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

}  // namespace core

namespace raw {

Window::Window(World& world, Count elements, std::size_t element_bytes, std::string name)
    : Window(
          core::WorldState::of(world).make_window({elements.value(), element_bytes, core::title_of(name)})) {}

Window::Window(World& world, void* memory, Count elements, std::size_t element_bytes, std::string name)
    : Window(core::WorldState::of(world).make_window(
          {elements.value(), element_bytes, core::title_of(name), memory, true})) {}

Window Window::on_host(World& world, Count elements, std::size_t element_bytes, std::string name) {
  core::WindowRequest request{elements.value(), element_bytes, core::title_of(name)};
  request.on_host = true;
  return Window(core::WorldState::of(world).make_window(request));
}

void* Window::data() const { return state().memory().data(); }
std::size_t Window::element_bytes() const { return state().element_bytes(); }
std::size_t Window::size() const { return state().bytes(state().world().rank()) / element_bytes(); }
std::uint32_t Window::number() const { return state().id(); }

std::size_t Window::size_on(int rank) const {
  core::check_rank(state(), rank);
  return state().bytes(rank) / element_bytes();
}

Remote Window::on(int rank) const {
  core::check_rank(state(), rank);
  return Remote(state_, rank, 0);
}

void Window::read(Count offset, std::span<std::byte> into) const {
  const std::uint64_t first = core::first_byte(state(), "read", offset.value(), into.size());
  if (!into.empty()) state().memory().read(first, into);
}

void Window::write(Count offset, std::span<const std::byte> from) const {
  const std::uint64_t first = core::first_byte(state(), "write", offset.value(), from.size());
  if (!from.empty()) state().memory().write(first, from);
}

const DeviceWindow<std::byte>& Window::device() const {
  const core::WorldState& world = state().world();
  if (world.size() > static_cast<int>(DeviceWindow<std::byte>::max_ranks)) {
    base::fail(Errc::invalid_argument, "device() of {}: a kernel sees at most {} ranks, this world has {}",
               state().title(), DeviceWindow<std::byte>::max_ranks, world.size());
  }
  if (const DeviceWindow<std::byte>* device = state().memory().device_window()) return *device;
  base::fail(Errc::invalid_argument,
             "device() of {}: no kernel can put into a window of the fabric {}; choose the fabric cuda "
             "(option fabric or OPENTCA_FABRIC)",
             state().title(), world.fabrics().front()->name());
}

void Remote::put(const void* element) const {
  core::WindowState& window = core::present(window_, "element of a window");
  const std::size_t size = window.element_bytes();
  const auto have = static_cast<std::int64_t>(window.bytes(rank_) / size);
  if (size > max_immediate_bytes) {
    base::fail(Errc::invalid_argument, "immediate put into {}, whose elements have {} bytes; at most {} go",
               window.title(), size, max_immediate_bytes);
  }
  if (offset_ < 0 || offset_ >= have) {
    base::fail(Errc::invalid_argument, "immediate put: there is no element {} of {} on rank {}, which has {}",
               offset_, window.title(), rank_, core::count_in_words(have));
  }
  core::WorldState& world = window.world();
  const std::size_t fabric = world.fabric_to(rank_, window.first_fabric());
  if (window.first_fabric() > 0 && fabric != world.fabric_to(rank_))
    world.deferred_steps().put_past_signals();
  world.fabrics()[fabric]->put_now(*window.memory_of(fabric), rank_,
                                   static_cast<std::uint64_t>(offset_) * size,
                                   {static_cast<const std::byte*>(element), size});
}

}  // namespace raw
}  // namespace tca
