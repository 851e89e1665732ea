// Posts as kernels carry them: the stores of puts into regions of others, and the notices that follow them.
#pragma once

#include "tca/device/notices.hpp"
#include "tca/device/stores.hpp"

namespace tca::device {

// A region that a post stores into. It has ended once the word says so of its generation or a later one: generations
// of one place follow each other.
struct PostRegion {
  const std::uint64_t* ended = nullptr;
  std::uint64_t generation = 0;
  // At the owner's host: odd while the post may be storing. Null if the memory stays until this rank has
  // let it go, so that a late store does no harm.
  Word* turn = nullptr;
  Word rank = 0;
};

struct Post {
  Table<PostRegion> regions;
  Table<Stores> stores;
  Table<PostNotice> notices;
  Word segments = 0;
  Word* turns = nullptr;    // here: how often it has begun and ended
  Word* refused = nullptr;  // here: not 0 where the start under way was refused
  Packet* memo = nullptr;   // here: the lane of the notice, of a post with one; see PostLanes
  PostReport* report = nullptr;
  WaitLimits limits;
};

// Returns, for this lane's share of the regions, whether all of them live. With turns it first says that
// the post may be storing.
template <class ThreadGroup>
TCA_DEVICE bool enter_regions(const Post& post, const ThreadGroup& group) {
  // The first lane is busy with the notice.
  const Word me = (group.lane() + group.lanes() - 1) % group.lanes();
  bool good = load_relaxed(post.limits.over) == 0;
  for (Word i = me; i < post.regions.count; i += group.lanes()) {
    const PostRegion region = post.regions[i];
    if (region.turn != nullptr) {
      store_relaxed(region.turn, *post.turns + 1);
      // Sequentially consistent: the owner marks the region and then looks at the turn.
      fence_in_one_order();
    }
    if (load_relaxed(region.ended) < region.generation) continue;
    good = false;
    store_relaxed(&post.report->gone, region.rank + 1);
  }
  return good;
}

// Sets lanes aside for all notices, or for none. By one lane of the group: lanes of a warp that wait for
// each other's turns might do so forever.
TCA_DEVICE_APART bool reserve_lanes(const Post& post) {
  for (Word n = 0; n < post.notices.count; ++n) {
    if (PostLanes::reserve(post.notices[n], post.limits, post.report)) continue;
    while (n-- > 0) PostLanes::end_reserved(post.notices[n], false, post.limits, post.report);
    return false;
  }
  return true;
}

// After a fence.
TCA_DEVICE_APART void raise_reserved(const Post& post) {
  for (Word n = 0; n < post.notices.count; ++n)
    PostLanes::end_reserved(post.notices[n], true, post.limits, post.report);
}

// The beginning of a start of several kernels: checks whether all regions live, and sets lanes aside.
// Returns, on every lane of the group, whether the post may store.
template <class ThreadGroup>
TCA_DEVICE bool begin_post(const Post& post, const ThreadGroup& group) {
  const bool good = group.all(enter_regions(post, group));
  return group.all(good && (group.lane() != 0 || reserve_lanes(post)));
}

// Stores this part's share of what is put. False if `may_store`, which it asks at each segment when the
// first bytes are on their way here, says no.
template <class ThreadGroup, class MayStore>
TCA_DEVICE bool store_post(const Post& post, const ThreadGroup& group, const MayStore& may_store) {
  for (Word s = group.part(); s < post.segments; s += group.parts()) {
    const Segment<Stores> segment = find_segment(post.stores, s);
    if (!copy_segment(segment.item, segment.number, group, may_store)) return false;
  }
  return true;
}

// What follows the notices: leaves the regions, and tells the host. By one lane, after a fence.
TCA_DEVICE void leave_regions(const Post& post, Word ticket) {
  if (post.turns != nullptr) {
    const Word turn = *post.turns += 2;
    for (Word i = 0; i < post.regions.count; ++i)
      if (post.regions[i].turn != nullptr) store_release(post.regions[i].turn, turn);
  }
  if (ticket != 0) store_release(&post.report->done, ticket);
}

// The end of a start of several kernels, after their stores: raises the notices if the start was not refused.
template <class ThreadGroup>
TCA_DEVICE void end_post(const Post& post, const ThreadGroup& group, bool has_stored, Word ticket) {
  group.sync();
  if (group.lane() != 0) return;
  fence_system();  // what was stored comes before all that follows
  if (has_stored) raise_reserved(post);
  leave_regions(post, ticket);
}

// A whole start by one part. If the post has one notice, everything that it needs to know of its lane is
// loaded together with its source.
template <class ThreadGroup>
TCA_DEVICE void run_post(const Post& post, const ThreadGroup& group, Word ticket) {
  const bool is_lone = post.notices.count == 1, raises = is_lone && group.lane() == 0;
  const PostNotice& notice = post.notices.items[0];
  LaneTurn mine;
  bool has_begun = false, may_store = false;
  const auto begin = [&] {
    if (has_begun) return may_store;
    has_begun = true;
    if (!is_lone) return may_store = begin_post(post, group);
    PostLanes::Begun begun = {};
    if (raises) begun = PostLanes::begin(notice, post.memo);
    const bool good = enter_regions(post, group);
    if (raises) mine = PostLanes::settle(notice, begun, post.limits, post.report);
    return may_store = group.all(good && (!raises || mine.lane != no_lane));
  };
  store_post(post, group, begin);
  begin();
  if (!is_lone) return end_post(post, group, may_store, ticket);
  group.sync();
  if (!raises) return;
  fence_system();  // what the group has stored comes before all that follows
  if (mine.lane != no_lane)
    may_store ? PostLanes::raise(notice, mine, post.memo) : PostLanes::give_up(notice, mine);
  leave_regions(post, ticket);
}

}  // namespace tca::device
