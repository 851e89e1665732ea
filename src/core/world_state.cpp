#include "core/world_state.hpp"

#include <algorithm>

#include "core/window_state.hpp"

namespace tca::core {

WorldState::WorldState(route::Ground ground, const WorldOptions& options) : ground_(std::move(ground)) {
  control().while_waiting = [this] { progress(); };
  if (options.trace) {
    trace_.emplace();
    for (const auto& fabric : ground_.fabrics) fabric->trace_to(&*trace_);
  }
}

std::shared_ptr<WindowState> WorldState::make_window(std::size_t bytes, std::byte* existing) {
  const std::uint32_t id = next_id();
  const std::string what = fmt::format("window {}", id);
  for (const base::Blob& blob : control().all_gather(releases(), what)) {
    base::Reader reader(blob);
    collect(reader);
  }
  auto window =
      std::make_shared<WindowState>(shared_from_this(), id, fabrics().front()->expose(bytes, existing, what));
  windows_[id] = window;
  return window;
}

std::shared_ptr<WindowState> WorldState::find_window(std::uint32_t id) const {
  const auto found = windows_.find(id);
  return found == windows_.end() ? nullptr : found->second.lock();
}

void WorldState::retire(std::uint32_t id, Retired part) {
  const bool first_part = retired_.count(id) == 0;
  retired_.emplace(id, std::move(part));
  windows_.erase(id);
  if (first_part) unannounced_.push_back(id);
}

base::Blob WorldState::releases() {
  base::Writer writer;
  writer.put(unannounced_.size());
  for (const std::uint32_t id : unannounced_) writer.put(id);
  unannounced_.clear();
  return writer.blob();
}

void WorldState::collect(base::Reader& theirs) {
  for (auto count = theirs.get<std::size_t>(); count > 0; --count) {
    const auto id = theirs.get<std::uint32_t>();
    if (++announced_[id] < size()) continue;
    announced_.erase(id);
    retired_.erase(id);
  }
}

}  // namespace tca::core
