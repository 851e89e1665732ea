#include "core/world_state.hpp"

#include <algorithm>

#include "core/window_state.hpp"
#include "route/tuning.hpp"

namespace tca::core {

WorldState::WorldState(route::Connections connections, const WorldOptions& options)
    : connections_(std::move(connections)),
      costs_(route::agree_on_costs(control(), fabrics(), connections_.places)) {
  control().while_waiting = [this] {
    progress_while_waiting();
    return needs_polling();
  };
  if (connections_.places.sub_cluster.empty()) connections_.places = fabric::Places::together(size());
  if (options.trace) {
    trace_.emplace();
    for (const auto& fabric : connections_.fabrics) fabric->trace_to(&*trace_);
  }
}

std::shared_ptr<WindowState> WorldState::make_window(std::size_t bytes, std::byte* existing) {
  const std::string what = next_window();
  bool registered = false;
  for (const base::Blob& blob :
       reclaimer_.gather_and_announce(base::Writer().put(existing != nullptr).blob(), what))
    registered |= base::Reader(blob).get<bool>();
  const std::uint32_t id = next_id();
  // Released memory is freed before the new window needs the room.
  if (reclaimer_.has_released()) control().barrier(what);
  reclaimer_.free_released();
  auto window = std::make_shared<WindowState>(
      shared_from_this(), id, std::make_shared<Memories>(expose(bytes, existing, registered, what)));
  windows_[id] = window;
  return window;
}

// Exposes memory on every fabric. The first fabric that can provides the memory, and the others give access
// to the same. `registered` says whether some rank brings its own.
std::vector<std::unique_ptr<fabric::Memory>> WorldState::expose(std::size_t bytes, std::byte* existing,
                                                                bool registered, const std::string& what) {
  std::vector<std::unique_ptr<fabric::Memory>> memories;
  for (const auto& fabric : fabrics()) {
    if (registered && !fabric->takes_existing() && fabric != fabrics().back()) {
      memories.push_back(nullptr);
      continue;
    }
    memories.push_back(fabric->expose(bytes, existing, what));
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
  return found == windows_.end() ? nullptr : found->second.lock();
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
    base::fail(Errc::invalid_argument, "{}: a time limit of {} ms cannot be met", whose, asked.count());
  constexpr std::chrono::milliseconds century = std::chrono::hours(24 * 365 * 100);
  return std::min(asked, century);
}

}  // namespace tca::core
