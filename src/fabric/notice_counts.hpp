// A rank's notices on fabrics where the target itself, or the model, stores what arrives. As on shm, a slot
// keeps up to `notice_tags` tags of a source at once.
#pragma once

#include <algorithm>
#include <cstdint>
#include <map>
#include <optional>
#include <utility>
#include <vector>

#include "tca/types.hpp"

namespace tca::fabric {

class NoticeCounts {
 public:
  // Reserves a notice that is to be raised later. Returns false, and does nothing, if the slot is full.
  bool reserve(int source, int slot, std::uint32_t tag) {
    std::vector<Lane>& lanes = slots_[{source, slot}];
    auto own = std::ranges::find(lanes, tag, &Lane::tag);
    if (own == lanes.end()) {
      if (lanes.size() == notice_tags) return false;
      own = lanes.insert(own, {tag, 0, 0});
    }
    ++own->reserved;
    return true;
  }
  void raise(int source, int slot, std::uint32_t tag) {
    Lane& lane = *std::ranges::find(slots_[{source, slot}], tag, &Lane::tag);
    --lane.reserved;
    ++lane.count;
  }
  // Gives up a reserved notice.
  void give_up(int source, int slot, std::uint32_t tag) {
    std::vector<Lane>& lanes = slots_[{source, slot}];
    --std::ranges::find(lanes, tag, &Lane::tag)->reserved;
    forget_empty(lanes);
  }

  // Consumes one, with any tag if `tag` is empty, and returns its tag.
  std::optional<std::uint32_t> take(int source, int slot, std::optional<std::uint32_t> tag) {
    const auto slot_of_source = slots_.find({source, slot});
    if (slot_of_source == slots_.end()) return std::nullopt;
    std::vector<Lane>& lanes = slot_of_source->second;
    const auto wanted = std::ranges::find_if(
        lanes, [&](const Lane& lane) { return lane.count > 0 && (!tag || *tag == lane.tag); });
    if (wanted == lanes.end()) return std::nullopt;
    const std::uint32_t taken = wanted->tag;
    --wanted->count;
    forget_empty(lanes);
    return taken;
  }

 private:
  struct Lane {
    std::uint32_t tag, count, reserved;
  };
  static void forget_empty(std::vector<Lane>& lanes) {
    std::erase_if(lanes, [](const Lane& lane) { return lane.count == 0 && lane.reserved == 0; });
  }

  std::map<std::pair<int, int>, std::vector<Lane>> slots_;  // by source and slot
};

}  // namespace tca::fabric
