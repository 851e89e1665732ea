#include "core/reclaim.hpp"

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

std::vector<base::Blob> Reclaimer::gather_and_announce(const base::Blob& mine, std::string_view what) {
  std::erase_if(ending_, [](RetiredChain& chain) { return chain.end(); });
  base::Writer writer;
  writer.put(unannounced_.size());
  for (const std::uint32_t id : unannounced_) writer.put(id);
  std::vector<base::Blob> all = control_.all_gather(writer.put_blob(mine).blob(), what);
  unannounced_.clear();
  for (base::Blob& blob : all) {
    base::Reader reader(blob);
    read_announcements(reader);
    blob = reader.rest();
  }
  return all;
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
  has_released_ = false;
}

}  // namespace tca::core
