// Posts as kernels carry them: the stores of puts into regions of others, and the notices behind them.
#pragma once

#include "tca/device/notices.hpp"
#include "tca/device/stores.hpp"

namespace tca::device {

// A region that a post stores into. It has ended once the word says so of its generation or a later one: generations
// of one place follow each other.
struct PostRegion {
  const std::uint64_t* ended = nullptr;
  std::uint64_t generation = 0;
  // At the owner's host: odd while the post may be storing. Null where the memory stays until this rank has let it
  // go, so that a store which comes late does no harm.
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
  Word* lock = nullptr;     // here: whoever has it may change lanes of this rank's
  PostReport* report = nullptr;
  WaitLimits limits;
};

// Waits for the lock, which nobody keeps while he waits for anything. False where the world has met an error.
TCA_DEVICE bool lock_lanes(const Post& post) {
  BoundedWait waiting(post.limits, 1);
  while (!try_lock(post.lock))
    if (!waiting.keep_polling(no_link)) return false;
  return true;
}

// The beginning of a start: looks whether all regions live, and sets lanes aside. Returns, on every lane of the group,
// whether the post may store. With `keeps_lock` the lanes stay locked until `end_post`.
template <class ThreadGroup>
TCA_DEVICE bool begin_post(const Post& post, const ThreadGroup& group, bool keeps_lock) {
  // The first lane is busy with notices.
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
  const bool reserves = group.lane() == 0 && post.notices.count > 0;
  const bool has_lock = reserves && lock_lanes(post);
  const bool reserved = has_lock && PostLanes::reserve(post.notices, post.report);
  const bool may_store = group.all(good && (!reserves || reserved));
  if (reserved && !may_store) PostLanes::give_up(post.notices, post.notices.count);
  if (has_lock && !(keeps_lock && may_store)) unlock(post.lock);
  return may_store;
}

// Stores this part's share of what is put. False where `may_store`, which it asks at each segment when the first bytes
// are on their way here, says no.
template <class ThreadGroup, class MayStore>
TCA_DEVICE bool store_post(const Post& post, const ThreadGroup& group, const MayStore& may_store) {
  for (Word s = group.part(); s < post.segments; s += group.parts()) {
    const Segment<Stores> segment = find_segment(post.stores, s);
    if (!copy_segment(segment.item, segment.number, group, may_store)) return false;
  }
  return true;
}

// The end of a start, whose stores lie before it: raises the notices where it was not refused, and tells the host.
template <class ThreadGroup>
TCA_DEVICE void end_post(const Post& post, const ThreadGroup& group, bool has_stored, bool has_lock,
                         Word ticket) {
  group.sync();
  if (group.lane() != 0) return;
  fence_system();  // what the group has stored comes before all that follows
  if (has_stored && post.notices.count > 0 && (has_lock || lock_lanes(post))) {
    PostLanes::raise(post.notices);
    unlock(post.lock);
  }
  if (post.turns != nullptr) {
    const Word turn = *post.turns += 2;
    for (Word i = 0; i < post.regions.count; ++i)
      if (post.regions[i].turn != nullptr) store_release(post.regions[i].turn, turn);
  }
  if (ticket != 0) store_release(&post.report->done, ticket);
}

// A whole start by one part.
template <class ThreadGroup>
TCA_DEVICE void run_post(const Post& post, const ThreadGroup& group, Word ticket) {
  bool has_begun = false, may_store = false;
  const auto begin = [&] {
    if (!has_begun) may_store = begin_post(post, group, true);
    has_begun = true;
    return may_store;
  };
  store_post(post, group, begin);
  end_post(post, group, begin(), true, ticket);
}

}  // namespace tca::device
