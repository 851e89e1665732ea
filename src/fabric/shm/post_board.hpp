// A PostBoard is the part of a rank's inbox through which others post to it: which of its regions are live,
// who is storing into them, and the notices of each source.
//
// A notice is a count. A source keeps the notices of a slot in eight lanes, each for one tag at a time: it
// stores the lane's tag and the number of notices that it has ever raised there, in one word, and next to
// it the owner stores how many it has taken. So each word has one writer. A lane whose notices have all
// been taken may get another tag; the owner looks at the tag only of lanes with notices, and those keep
// theirs.
//
// A region ends like this: its owner removes it from the board and then waits until no source is storing. A
// source announces that it is storing before it checks whether the region is live. Both orders hold across
// the two words (sequentially consistent), so either the source finds the region gone or the owner finds
// the source storing.
//
// docs/protocols.md argues why this is right; verify/models/notice.pml and verify/models/freed.pml prove
// it.
#pragma once

#include <array>
#include <atomic>
#include <cstddef>
#include <cstdint>

#include "tca/types.hpp"

namespace tca::shm {

struct alignas(64) NoticeSlot {
  // Written by the source: the tag in the upper half, the count in the lower. Release: pairs with the
  // acquire in `take`; what was posted before is visible to an owner that sees the count.
  std::array<std::atomic<std::uint64_t>, notice_tags> lanes;
  // Written by the owner. Relaxed: a source that sees that all are taken only stores another word into the
  // lane.
  alignas(64) std::array<std::atomic<std::uint32_t>, notice_tags> taken;
};
static_assert(sizeof(NoticeSlot) == 128 && std::atomic<std::uint64_t>::is_always_lock_free);

using NoticeSlots = std::array<NoticeSlot, notice_slots>;

// Odd while the source stores into the owner's regions.
struct alignas(64) Storing {
  std::atomic<std::uint32_t> turns;
};

// Lives in zeroed memory. Followed by a Storing for each rank, and NoticeSlots for each.
struct alignas(64) PostBoard {
  static constexpr std::uint32_t most_regions = 8192;

  std::atomic<std::uint64_t> job;  // 0 before the owner's first region
  // The generations of the live regions; 0 if there is none.
  std::array<std::atomic<std::uint64_t>, most_regions> live;

  Storing& storing(int source) {
    return reinterpret_cast<Storing*>(reinterpret_cast<std::byte*>(this) + sizeof(PostBoard))[source];
  }
  NoticeSlots& notices(int source, int ranks) {
    return reinterpret_cast<NoticeSlots*>(&storing(ranks))[source];
  }

  static constexpr std::size_t bytes(std::size_t ranks) {
    return sizeof(PostBoard) + ranks * (sizeof(Storing) + sizeof(NoticeSlots));
  }
};

}  // namespace tca::shm
