// Notices as kernels raise them and wait for them. docs/protocols.md argues why this is right.
//
// A slot of a source has eight lanes of notices. Each is one word with a tag and the number of notices that the
// source has ever raised there. The source stores it twice: into memory of the owner's GPU, for waits on streams,
// and into pinned memory of its host. A wait takes a notice where the number is more than what streams and the host
// have taken together; each of the two counts its own in a word that it alone writes.
//
// The source keeps its lanes in its own GPU's memory, so that a start on a stream, or a graph, asks nobody; it looks
// at the owner's words only to find a lane for another tag.
#pragma once

#include "tca/device/wait_limits.hpp"
#include "tca/types.hpp"

namespace tca::device {

// A lane as its source knows it.
struct alignas(16) RaisedLane {
  Word tag = 0, count = 0;
  Word reserved = 0;  // notices of posts that are on their way
};

// A notice that a post raises: its slot, at both ends. Each pointer is to the first of eight lanes.
struct PostNotice {
  RaisedLane* raised = nullptr;         // here
  std::uint64_t* lanes = nullptr;       // at the owner's GPU
  std::uint64_t* host_lanes = nullptr;  // at its host
  const Word* taken = nullptr;          // by streams, at the owner's GPU
  const Word* taken_by_host = nullptr;  // at its host
  Word tag = 0, slot = 0, rank = 0;
};

// What came of the starts of a post, in pinned memory.
struct PostReport {
  Word gone = 0;     // 1 + a rank whose region has ended; 0 where none has
  Word full = 0;     // 1 + a slot that is full; 0 where none is
  Word full_at = 0;  // whose slot that is
  Word done = 0;     // the ticket of the last start that is through
};

TCA_DEVICE constexpr std::uint64_t lane_of(Word tag, Word count) {
  return static_cast<std::uint64_t>(tag) << 32 | count;
}
TCA_DEVICE constexpr Word tag_of_lane(std::uint64_t lane) { return static_cast<Word>(lane >> 32); }
TCA_DEVICE constexpr Word count_of_lane(std::uint64_t lane) { return static_cast<Word>(lane); }
// Whether a lane has more notices than were taken. The word of one side may be behind what the other has taken.
TCA_DEVICE constexpr bool has_notices(std::uint64_t lane, Word taken) {
  return static_cast<std::int32_t>(count_of_lane(lane) - taken) > 0;
}

inline constexpr Word no_lane = ~Word{0};

class PostLanes {
 public:
  // Returns the lane that has the tag, or one that may get it.
  static TCA_DEVICE Word find(const PostNotice& notice) {
    Word unused = no_lane;
    TCA_UNROLL
    for (Word i = 0; i < notice_tags; ++i) {
      const RaisedLane lane = notice.raised[i];
      const bool is_used = lane.count != 0 || lane.reserved != 0;
      if (is_used && lane.tag == notice.tag) return i;
      if (!is_used) unused = i;
    }
    return unused != no_lane ? unused : find_taken(notice);
  }

  // Sets lanes aside for all notices of a post, or for none.
  static TCA_DEVICE bool reserve(const Table<PostNotice>& notices, PostReport* report) {
    for (Word n = 0; n < notices.count; ++n) {
      const PostNotice notice = notices[n];
      const Word lane = find(notice);
      if (lane == no_lane) {
        give_up(notices, n);
        store_relaxed(&report->full_at, notice.rank);
        store_release(&report->full, notice.slot + 1);
        return false;
      }
      notice.raised[lane].tag = notice.tag;
      ++notice.raised[lane].reserved;
    }
    return true;
  }
  // Takes back what was set aside for the first `count` notices.
  static TCA_DEVICE void give_up(const Table<PostNotice>& notices, Word count) {
    for (Word n = 0; n < count; ++n) {
      const PostNotice notice = notices[n];
      --notice.raised[find(notice)].reserved;
    }
  }

  // Raises what was set aside, behind a fence that orders what the post has stored before it.
  static TCA_DEVICE void raise(const Table<PostNotice>& notices) {
    for (Word n = 0; n < notices.count; ++n) {
      const PostNotice notice = notices[n];
      const Word i = find(notice);
      RaisedLane& lane = notice.raised[i];
      --lane.reserved;
      const std::uint64_t word = lane_of(lane.tag, ++lane.count);
      store_relaxed(notice.lanes + i, word);  // pairs with the acquires in `try_take` and at the owner's host
      store_relaxed(notice.host_lanes + i, word);
    }
  }

 private:
  // Apart, as its loads take a round trip each. The words only grow, and never beyond the count.
  static TCA_DEVICE_APART Word find_taken(PostNotice notice) {
    for (Word i = 0; i < notice_tags; ++i) {
      const RaisedLane lane = notice.raised[i];
      if (lane.reserved == 0 &&
          lane.count == load_relaxed(notice.taken + i) + load_relaxed(notice.taken_by_host + i))
        return i;
    }
    return no_lane;
  }
};

// What waits for a notice on a stream. The pointers are to the first of eight lanes, here.
struct NoticeWait {
  const std::uint64_t* lanes = nullptr;
  Word* taken = nullptr;                // by streams
  const Word* taken_by_host = nullptr;  // in pinned memory
  Word* told_taken = nullptr;           // in pinned memory: `taken`, for the host
  Word tag = 0, slot = 0, source = 0;
  Word* told_tag = nullptr;  // in pinned memory, one a source: the tag of a wait that has been long
};

// Takes a notice from a lane where it has one with the tag. What waits for notices of a slot does so one after the
// other, so nobody else counts meanwhile.
TCA_DEVICE bool try_take(const NoticeWait& wait, Word i, Word taken_by_host) {
  const std::uint64_t lane = load_acquire(wait.lanes + i);  // pairs with the fence in front of `raise`
  if (tag_of_lane(lane) != wait.tag) return false;
  const Word taken = wait.taken[i];
  if (!has_notices(lane, taken + taken_by_host)) return false;
  // Relaxed: a source that sees that all are taken stores nothing but another word into the lane.
  store_relaxed(wait.taken + i, taken + 1);
  store_relaxed(wait.told_taken + i, taken + 1);
  return true;
}

// Waits for a notice, and consumes it. `Unit` is a warp, or a single thread on the host. False when it gave up.
template <class Unit>
TCA_DEVICE bool take_notice(const NoticeWait& wait, const WaitLimits& limits, const Unit& unit) {
  constexpr Word polls_before_telling = polls_between_host_checks / 2;
  // The host is 1 us away. It takes nothing of this slot while this waits, so one look is enough, on whose way the
  // first polls are made.
  Word taken_by_host[notice_tags];
  TCA_UNROLL
  for (Word k = 0; k < notice_tags; ++k) {
    const Word i = unit.lane() + k * unit.lanes();
    taken_by_host[k] = i < notice_tags ? load_relaxed(wait.taken_by_host + i) : 0;
  }
  BoundedWait waiting(limits, wait.slot + 1);
  for (Word polls = 1;; ++polls) {
    bool come = false;
    TCA_UNROLL
    for (Word k = 0; k < notice_tags; ++k) {
      const Word i = unit.lane() + k * unit.lanes();
      if (i < notice_tags && !come) come = try_take(wait, i, taken_by_host[k]);
    }
    const bool is_long = polls >= polls_before_telling;
    if (!unit.all(!come)) {
      if (is_long && unit.lane() == 0) store_relaxed(limits.waiting + wait.source, 0);
      return true;
    }
    if (polls == polls_before_telling && unit.lane() == 0)
      store_relaxed(wait.told_tag + wait.source, wait.tag);
    if (!waiting.keep_polling(wait.source, unit)) return false;
  }
}

}  // namespace tca::device
