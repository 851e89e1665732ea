#include "core/world_state.hpp"

#include <algorithm>
#include <iterator>

#include "core/chain_state.hpp"
#include "core/window_state.hpp"
#include "route/tuning.hpp"

namespace tca::core {

WorldState::WorldState(route::Ground ground, const WorldOptions& options)
    : ground_(std::move(ground)), costs_(route::agree_on_costs(control(), fabrics(), ground_.places)) {
  control().while_waiting = [this] {
    progress_while_waiting();
    return needs_polling();
  };
  if (ground_.places.sub_cluster.empty()) ground_.places = fabric::Places::together(size());
  if (options.trace) {
    trace_.emplace();
    for (const auto& fabric : ground_.fabrics) fabric->trace_to(&*trace_);
  }
}

std::shared_ptr<WindowState> WorldState::make_window(std::size_t bytes, std::byte* existing) {
  const std::string what = next_window();
  bool registered = false;
  for (const base::Blob& blob : gather_and_collect(base::Writer().put(existing != nullptr).blob(), what))
    registered |= base::Reader(blob).get<bool>();
  const std::uint32_t id = next_id();
  // Before the new window needs the room. A rank that keeps no memory for what all have released meets the others all the same.
  if (collects_) control().barrier(what);
  free_collected();
  auto window = std::make_shared<WindowState>(
      shared_from_this(), id, std::make_shared<Memories>(expose(bytes, existing, registered, what)));
  windows_[id] = window;
  return window;
}

// The first fabric that can brings the memory, the others reach the same. `registered`: some rank brings its own.
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

bool WorldState::still_holds_back() {
  put_past_signals_ = !std::ranges::all_of(fabrics(), [](const auto& fabric) { return fabric->settled(); });
  return put_past_signals_;
}

std::vector<int> WorldState::unsettled() const {
  std::vector<int> ranks;
  for (const auto& fabric : fabrics()) {
    const std::vector<int> of_fabric = fabric->unsettled();
    ranks.insert(ranks.end(), of_fabric.begin(), of_fabric.end());
  }
  return ranks;
}

// Each takes itself out.
void WorldState::begin_held() {
  if (holds_back()) return;
  while (!held_.empty()) held_.back()->begin_held();
}

int WorldState::sub_clusters() const {
  return 1 + *std::max_element(ground_.places.sub_cluster.begin(), ground_.places.sub_cluster.end());
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

bool RetiredChain::end(bool in_order) {
  in_order_ &= in_order;
  bool all = true;
  for (const auto& program : programs_) all &= program->end(in_order_);
  return all;
}

void WorldState::retire(std::uint32_t id, Retired part, bool in_order) {
  retired_.emplace(id, std::move(part));
  windows_.erase(id);
  unannounced_.push_back({id, in_order});
}

std::vector<base::Blob> WorldState::gather_and_collect(const base::Blob& mine, std::string_view what) {
  std::erase_if(ending_, [](RetiredChain& chain) { return chain.end(true); });
  base::Writer writer;
  writer.put(unannounced_.size());
  for (const Release& release : unannounced_) writer.put(release.id).put(release.in_order);
  std::vector<base::Blob> all = control().all_gather(writer.put_blob(mine).blob(), what);
  unannounced_.clear();
  for (base::Blob& blob : all) {
    base::Reader reader(blob);
    collect(reader);
    blob = reader.rest();
  }
  return all;
}

void WorldState::collect(base::Reader& theirs) {
  for (auto count = theirs.get<std::size_t>(); count > 0; --count) {
    const auto id = theirs.get<std::uint32_t>();
    Released& released = announced_[id];
    released.in_order &= theirs.get<bool>();
    if (++released.by_ranks < size()) continue;
    collects_ = true;
    const auto part = retired_.extract(id);
    if (auto* window = std::get_if<std::shared_ptr<Memories>>(&part.mapped()))
      collected_.push_back(std::move(*window));
    if (auto* chain = std::get_if<RetiredChain>(&part.mapped())) {
      if (chain->end(released.in_order)) {
        std::ranges::move(chain->take_windows(), std::back_inserter(collected_));
      } else {
        ending_.push_back(std::move(*chain));
      }
    }
    announced_.erase(id);
  }
}

std::chrono::milliseconds checked_limit(std::chrono::milliseconds asked, std::string_view whose) {
  if (asked.count() <= 0)
    base::fail(Errc::invalid_argument, "{}: a time limit of {} ms cannot be met", whose, asked.count());
  constexpr std::chrono::milliseconds century = std::chrono::hours(24 * 365 * 100);
  return std::min(asked, century);
}

}  // namespace tca::core
