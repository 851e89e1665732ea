// Notices as kernels raise them and wait for them. docs/protocols.md argues why this is correct.
//
// A slot of a source has eight lanes of notices. Each is one word with a tag and the number of notices that
// the source has ever raised there. The source stores it twice: into memory of the owner's GPU, for waits
// on streams, and into pinned memory of its host. A wait takes a notice if the number is more than what
// streams and the host have taken together; each of the two counts its own in a word that it alone writes.
//
// The source keeps its lanes in its own GPU's memory, so that a start on a stream, or a graph, asks nobody; it looks
// at the owner's words only to find a lane for another tag.
#pragma once

#include "tca/device/packet.hpp"
#include "tca/device/wait_limits.hpp"
#include "tca/types.hpp"

namespace tca::device {

// A lane as its source knows it.
struct alignas(16) RaisedLane {
  Word tag = 0, count = 0;
  Word reserved = 0;  // notices of large posts that are on their way
};

// A slot of a target as its source knows it. Kernels of several streams may post there, and take turns.
struct alignas(16) RaisedSlot {
  RaisedLane lanes[notice_tags];
  Word lock = 0;  // see begin_turn
};

// A notice that a post raises: its slot, at both ends. Pointers to words are to the first of eight lanes.
struct PostNotice {
  RaisedSlot* raised = nullptr;         // here
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

// A turn of a slot, and the lane that a notice has in it.
struct LaneTurn {
  Word turn = 0;  // odd while it lasts
  Word lane = no_lane, count = 0;
};

// How posts change lanes, one notice at a time. Nobody keeps a turn while waiting for anything.
class PostLanes {
 public:
  // The only notice of a post. It holds the turn of its slot from before the post stores, so that what it
  // needs to know of its lane is loaded together with the post's source, and nothing but the notice comes
  // after the fence. `memo` is the post's own: it has what the last turn of this post has left, under the
  // number of the next turn, and is right if that is the one that has begun.
  struct Begun {
    Word before;
    Packet memo;
  };
  static TCA_DEVICE Begun begin(const PostNotice& notice, const Packet* memo) {
    const Word before = begin_turn(&notice.raised->lock);
    return {before, memo->read_once()};
  }
  // Returns no lane if the world has met an error, or if all are taken, as the report then says.
  static TCA_DEVICE LaneTurn settle(const PostNotice& notice, const Begun& begun, const WaitLimits& limits,
                                    PostReport* report) {
    if (begun.before % 2 == 0 && begun.memo.carries(begun.before + 1))
      return {begun.before + 1, begun.memo.word(0), begun.memo.word(1)};
    return find_in_turn(notice, begun.before, limits, report);
  }
  // After a fence that orders what the post has stored before it, and what the turn before has.
  static TCA_DEVICE void raise(const PostNotice& notice, const LaneTurn& mine, Packet* memo) {
    const Word count = mine.count + 1;
    tell(notice, mine.lane, count);
    RaisedLane& lane = notice.raised->lanes[mine.lane];
    lane.tag = notice.tag;
    lane.count = count;
    const Word words[Packet::words] = {mine.lane, count, 0};
    memo->write(Packet::of(words, mine.turn + 2));
    end_turn(&notice.raised->lock, mine.turn + 1);
  }
  // Ends a turn in which nothing has changed.
  static TCA_DEVICE void give_up(const PostNotice& notice, const LaneTurn& mine) {
    end_turn(&notice.raised->lock, mine.turn - 1);
  }

  // A notice of any other post: it gets a lane in one turn, and is raised, or given up, in another one.
  static TCA_DEVICE_APART bool reserve(PostNotice notice, const WaitLimits& limits, PostReport* report) {
    const LaneTurn mine = find_in_turn(notice, begin_turn(&notice.raised->lock), limits, report);
    if (mine.lane == no_lane) return false;
    RaisedLane& lane = notice.raised->lanes[mine.lane];
    lane.tag = notice.tag;
    ++lane.reserved;
    end_turn(&notice.raised->lock, mine.turn + 1);
    return true;
  }
  static TCA_DEVICE_APART void end_reserved(PostNotice notice, bool raises, const WaitLimits& limits,
                                            PostReport* report) {
    const LaneTurn mine = find_in_turn(notice, begin_turn(&notice.raised->lock), limits, report);
    if (mine.lane == no_lane) return;
    RaisedLane& lane = notice.raised->lanes[mine.lane];
    --lane.reserved;
    if (raises) tell(notice, mine.lane, ++lane.count);
    end_turn(&notice.raised->lock, mine.turn + 1);
  }

 private:
  // Waits for the turn, unless it has begun with what was there `before`, and finds the notice's lane.
  static TCA_DEVICE_APART LaneTurn find_in_turn(PostNotice notice, Word before, const WaitLimits& limits,
                                                PostReport* report) {
    BoundedWait waiting(limits, 1);
    while (before % 2 != 0) {
      if (!waiting.keep_polling(no_link)) return {};
      before = begin_turn(&notice.raised->lock);
    }
    fence_gpu();
    const Word lane = find(notice);
    if (lane != no_lane) return {before + 1, lane, notice.raised->lanes[lane].count};
    store_relaxed(&report->full_at, notice.rank);
    store_release(&report->full, notice.slot + 1);
    end_turn(&notice.raised->lock, before);
    return {};
  }

  // Returns the lane that has the tag, or one that may get it.
  static TCA_DEVICE Word find(const PostNotice& notice) {
    Word unused = no_lane;
    TCA_UNROLL
    for (Word i = 0; i < notice_tags; ++i) {
      const RaisedLane lane = notice.raised->lanes[i];
      const bool is_used = lane.count != 0 || lane.reserved != 0;
      if (is_used && lane.tag == notice.tag) return i;
      if (!is_used) unused = i;
    }
    return unused != no_lane ? unused : find_taken(notice);
  }
  // Its loads take a round trip each. The words only grow, and never beyond the count.
  static TCA_DEVICE Word find_taken(const PostNotice& notice) {
    for (Word i = 0; i < notice_tags; ++i) {
      const RaisedLane lane = notice.raised->lanes[i];
      if (lane.reserved == 0 &&
          lane.count == load_relaxed(notice.taken + i) + load_relaxed(notice.taken_by_host + i))
        return i;
    }
    return no_lane;
  }

  static TCA_DEVICE void tell(const PostNotice& notice, Word lane, Word count) {
    const std::uint64_t word = lane_of(notice.tag, count);
    // These pair with the acquires in `try_take` and at the owner's host.
    store_relaxed(notice.lanes + lane, word);
    store_relaxed(notice.host_lanes + lane, word);
  }
};

// What waits for a notice on a stream. The pointers are to the first of eight lanes, here.
struct NoticeWait {
  const std::uint64_t* lanes = nullptr;
  Word* taken = nullptr;                // by streams
  const Word* taken_by_host = nullptr;  // in pinned memory
  Word tag = 0, slot = 0, source = 0;
  Word* told_tag = nullptr;  // in pinned memory, one a source: the tag of a wait that has been long
};

// What was taken of a lane's notices before a wait.
struct Taken {
  Word by_streams = 0, by_host = 0;
};

// Takes a notice from a lane if it has one with the tag. Waits for notices of a slot follow one after the
// other, so nobody else counts meanwhile.
TCA_DEVICE bool try_take(const NoticeWait& wait, Word i, const Taken& taken) {
  const std::uint64_t lane = load_acquire(wait.lanes + i);  // pairs with the fence in front of `raise`
  if (tag_of_lane(lane) != wait.tag || !has_notices(lane, taken.by_streams + taken.by_host)) return false;
  // Relaxed: a source that sees that all are taken stores nothing but another word into the lane.
  store_relaxed(wait.taken + i, taken.by_streams + 1);
  return true;
}

// Waits for a notice, and consumes it. `Unit` is a warp, or a single thread on the host. False if it gave up.
template <class Unit>
TCA_DEVICE bool take_notice(const NoticeWait& wait, const WaitLimits& limits, const Unit& unit) {
  constexpr Word polls_before_telling = polls_between_host_checks / 2;
  // The host is 1 us away. Nobody else takes notices of this slot while this waits, so one look is enough,
  // and the first polls are made while it is in flight.
  Taken taken[notice_tags];
  TCA_UNROLL
  for (Word k = 0; k < notice_tags; ++k) {
    const Word i = unit.lane() + k * unit.lanes();
    if (i < notice_tags) taken[k] = {load_relaxed(wait.taken + i), load_relaxed(wait.taken_by_host + i)};
  }
  BoundedWait waiting(limits, wait.slot + 1);
  for (Word polls = 1;; ++polls) {
    bool come = false;
    TCA_UNROLL
    for (Word k = 0; k < notice_tags; ++k) {
      const Word i = unit.lane() + k * unit.lanes();
      if (i < notice_tags && !come) come = try_take(wait, i, taken[k]);
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
