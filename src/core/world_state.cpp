#include "core/world_state.hpp"

#include <algorithm>

#include "base/fail.hpp"
#include "boot/over_mpi.hpp"
#include "core/window_state.hpp"
#include "route/hardware.hpp"
#include "route/tuning.hpp"

namespace tca::core {

WorldState::WorldState(boot::Connections connections, const WorldOptions& options)
    : connections_(std::move(connections)),
      costs_(route::agree_on_costs(control(), fabrics(), connections_.places,
                                   boot::mpi_of(route::fabric_set(fabrics())))),
      checks_steps_(options.check_steps) {
  control().while_waiting = [this] {
    progress_while_waiting();
    return needs_polling();
  };
  if (connections_.places.sub_cluster.empty()) connections_.places = control::Places::together(size());
  if (options.trace) {
    trace_.emplace();
    for (const auto& fabric : connections_.fabrics) fabric->trace_to(&*trace_);
  }
}

namespace {

std::size_t bytes_of(const WindowRequest& request, const std::string& title) {
  std::int64_t bytes;
  if (request.elements < 0)
    base::fail(Errc::invalid_argument, "{}: {} elements cannot be; a window has none or more on each rank",
               title, request.elements);
  if (request.element_bytes == 0)
    base::fail(Errc::invalid_argument, "{}: elements of no bytes cannot be", title);
  if (__builtin_mul_overflow(request.elements, static_cast<std::int64_t>(request.element_bytes), &bytes)) {
    base::fail(Errc::invalid_argument, "{}: the bytes of {} elements of {} overflow 63 bits", title,
               request.elements, request.element_bytes);
  }
  if (request.registers && request.existing == nullptr && bytes > 0) {
    base::fail(Errc::invalid_argument,
               "{}: no memory is given for {} elements; leave the pointer out to have it allocated", title,
               request.elements);
  }
  return static_cast<std::size_t>(bytes);
}

}  // namespace

std::string WorldState::titled(const WindowRequest& request) const {
  return request.title.empty() ? fmt::format("window {}", next_id_) : request.title;
}

// Returns whether some rank registers memory of its own. Throws on every rank alike, where a rank asks for
// what cannot be or ranks ask for different windows.
bool WorldState::agree_on_window(const WindowRequest& request, const std::string& title) {
  const std::string what = "creation of " + title;
  const auto mine = [&] {
    const bool registers = bytes_of(request, title) > 0 && request.existing != nullptr;
    return base::Writer().put(registers).put(request.element_bytes).put_string(title).blob();
  };
  std::vector<base::Blob> all = reclaimer_.gather_and_announce(control().attempt(what, mine), what);
  control::Control::require_all(all);
  bool registered = false;
  std::size_t first_bytes = 0;
  std::string first_title;
  for (std::size_t rank = 0; rank < all.size(); ++rank) {
    base::Reader reader(all[rank]);
    registered |= reader.get<bool>();
    const auto element_bytes = reader.get<std::size_t>();
    const std::string theirs = reader.get_string();
    if (rank == 0) {
      first_bytes = element_bytes;
      first_title = theirs;
    }
    if (theirs == first_title && element_bytes == first_bytes) continue;
    const auto describe = [&](const std::string& window, std::size_t bytes) {
      return element_bytes == first_bytes ? window : fmt::format("{} of {}-byte elements", window, bytes);
    };
    base::fail(
        Errc::refused,
        "rank 0 makes {}, rank {} {}; every rank must make the same windows and collectives in the same "
        "order, under the same names",
        describe(first_title, first_bytes), rank, describe(theirs, element_bytes));
  }
  return registered;
}

std::shared_ptr<WindowState> WorldState::make_window(const WindowRequest& request) {
  const std::string title = titled(request);
  const bool registered = agree_on_window(request, title);
  const std::size_t bytes = bytes_of(request, title);
  const std::uint32_t id = next_id();
  // Released memory is freed before the new window needs the room.
  free_released("creation of " + title);
  auto* const existing = bytes == 0 ? nullptr : static_cast<std::byte*>(request.existing);
  auto memories = std::make_shared<Memories>(expose(bytes, existing, registered, title));
  const std::string* const name = request.title.empty() ? nullptr : &intern(request.title);
  auto window =
      std::make_shared<WindowState>(shared_from_this(), id, std::move(memories), request.element_bytes);
  windows_[id] = {window, name};
  return window;
}

void WorldState::free_released(std::string_view what) {
  if (!reclaimer_.has_released()) return;
  control().barrier(what);
  std::erase_if(windows_, [&](const auto& known) {
    return known.second.window.expired() && !reclaimer_.remembers(known.first);
  });
  reclaimer_.free_released();
}

std::string WorldState::window_title(std::uint32_t id) const {
  const auto known = windows_.find(id);
  const std::string* const title = known == windows_.end() ? nullptr : known->second.title;
  return title != nullptr ? *title : fmt::format("window {}", id);
}

// Exposes memory on every fabric. The first fabric that can provides the memory, and the others give access
// to the same. `registered` says whether some rank brings its own.
std::vector<std::unique_ptr<fabric::Memory>> WorldState::expose(std::size_t bytes, std::byte* existing,
                                                                bool registered, const std::string& title) {
  std::vector<std::unique_ptr<fabric::Memory>> memories;
  for (const auto& fabric : fabrics()) {
    if (registered && !fabric->takes_existing() && fabric != fabrics().back()) {
      memories.push_back(nullptr);
      continue;
    }
    memories.push_back(fabric->expose(bytes, existing, title));
    existing = memories.back()->data();
  }
  return memories;
}

int WorldState::sub_cluster_count() const {
  return 1 +
         *std::max_element(connections_.places.sub_cluster.begin(), connections_.places.sub_cluster.end());
}

std::size_t WorldState::fabric_to(int rank, std::size_t from) const {
  while (from + 1 < fabrics().size() && !fabrics()[from]->reaches(rank)) ++from;
  return from;
}

std::shared_ptr<WindowState> WorldState::find_window(std::uint32_t id) const {
  const auto found = windows_.find(id);
  return found == windows_.end() ? nullptr : found->second.window.lock();
}

std::size_t WorldState::first_fabric(std::uint32_t window, std::uint32_t other) const {
  std::size_t first = 0;
  for (const std::uint32_t id : {window, other})
    if (const std::shared_ptr<WindowState> found = find_window(id))
      first = std::max(first, found->first_fabric());
  return first;
}

std::chrono::milliseconds checked_limit(std::chrono::milliseconds asked, std::string_view whose) {
  if (asked.count() <= 0)
    base::fail(Errc::invalid_argument, "{}: a time limit of {} ms cannot be met; it must be at least 1 ms",
               whose, asked.count());
  constexpr std::chrono::milliseconds century = std::chrono::hours(24 * 365 * 100);
  return std::min(asked, century);
}

}  // namespace tca::core
