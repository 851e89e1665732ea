#include "core/world/reclaim.hpp"

#include <algorithm>
#include <iterator>

namespace tca::core {

bool RetiredChain::end() {
  bool all = true;
  for (const auto& program : programs_) all &= program->end();
  return all;
}

void Reclaimer::retire(std::uint32_t id, Retired object) {
  leaving_[id].object.emplace(std::move(object));
  unannounced_.push_back(id);
}

void Reclaimer::retire_group(std::uint64_t key, int ranks, std::unique_ptr<RetiredGroup> group) {
  leaving_groups_[key].group = std::move(group);
  unannounced_groups_.emplace_back(key, ranks);
}

bool Reclaimer::end_chains() {
  bool all = true;
  for (auto& [id, leaving] : leaving_)
    if (leaving.object)
      if (auto* const chain = std::get_if<RetiredChain>(&*leaving.object)) all &= chain->end();
  for (RetiredChain& chain : ending_) all &= chain.end();
  return all;
}

void Reclaimer::end_ending() {
  std::erase_if(ending_, [](RetiredChain& chain) { return chain.end(); });
  std::erase_if(ending_groups_, [](const auto& group) { return group->end_chains(); });
}

void Reclaimer::announce(std::string_view what) {
  base::Writer writer;
  writer.put(unannounced_.size());
  for (const std::uint32_t id : unannounced_) writer.put(id);
  writer.put(unannounced_groups_.size());
  for (const auto& [key, ranks] : unannounced_groups_) writer.put(key).put(ranks);
  const std::vector<base::Blob> all = control_.all_gather(writer.blob(), what);
  unannounced_.clear();
  unannounced_groups_.clear();
  for (const base::Blob& blob : all) {
    base::Reader reader(blob);
    read_announcements(reader);
    read_announced_groups(reader);
  }
}

void Reclaimer::read_announcements(base::Reader& theirs) {
  for (auto count = theirs.get<std::size_t>(); count > 0; --count) {
    const auto id = theirs.get<std::uint32_t>();
    Leaving& leaving = leaving_[id];
    if (++leaving.announced_by < control_.size()) continue;
    const auto released = leaving_.extract(id);
    release(*released.mapped().object);
  }
}

// Ranks outside a group count along with its members, so that all know whether something is released.
void Reclaimer::read_announced_groups(base::Reader& theirs) {
  for (auto count = theirs.get<std::size_t>(); count > 0; --count) {
    const auto key = theirs.get<std::uint64_t>();
    const int ranks = theirs.get<int>();
    if (++leaving_groups_[key].announced_by < ranks) continue;
    has_released_ = true;
    std::unique_ptr<RetiredGroup> group = std::move(leaving_groups_.extract(key).mapped().group);
    if (group == nullptr) continue;
    (group->end_chains() ? released_groups_ : ending_groups_).push_back(std::move(group));
  }
}

void Reclaimer::release(Retired& object) {
  has_released_ = true;
  if (auto* window = std::get_if<std::shared_ptr<Memories>>(&object)) released_.push_back(std::move(*window));
  auto* const chain = std::get_if<RetiredChain>(&object);
  if (chain == nullptr) return;
  if (chain->end()) {
    std::ranges::move(chain->take_windows(), std::back_inserter(released_));
  } else {
    ending_.push_back(std::move(*chain));
  }
}

void Reclaimer::free_released() {
  released_.clear();
  released_groups_.clear();
  has_released_ = false;
}

}  // namespace tca::core
