// Tests what kernels do for posts: that a notice comes after what was put before it, that each is taken once by
// whoever waits, and that nothing is stored where the post is refused.
#include <gtest/gtest.h>

#include <algorithm>
#include <array>
#include <atomic>
#include <deque>
#include <random>
#include <thread>
#include <vector>

#include "fabric/cuda/post/board.hpp"
#include "seed.hpp"
#include "tca/device/posts.hpp"

namespace tca::test {
namespace {

using device::Word;

// A block, and a warp, of one lane.
struct Alone {
  [[nodiscard]] static Word part() { return 0; }
  [[nodiscard]] static Word parts() { return 1; }
  [[nodiscard]] static Word lane() { return 0; }
  [[nodiscard]] static Word lanes() { return 1; }
  static void sync() {}
  [[nodiscard]] static bool all(bool mine) { return mine; }
  [[nodiscard]] static bool any(bool mine) { return mine; }
};

// A source and an owner, with all the words that they share.
struct Pair {
  using Lanes = std::array<std::uint64_t, notice_tags>;
  using Words = std::array<Word, notice_tags>;

  Pair() {
    limits.abort = &abort;
    limits.gave_up = &gave_up;
    limits.waiting = &waiting;
    limits.gone = &gone;
    limits.over = &over;
    limits.chain = 1;
    limits.limit_ns = 20'000'000'000;
  }

  device::PostNotice notice(Word tag) {
    device::PostNotice notice;
    notice.raised = &raised;
    notice.lanes = lanes.data();
    notice.host_lanes = host.lanes.data();
    notice.taken = taken.data();
    notice.taken_by_host = host.taken_by_host.data();
    notice.tag = tag;
    notice.slot = 5;
    notice.rank = 1;
    return notice;
  }
  device::Post post(const std::vector<Word>& tags) {
    device::Post post;
    for (const Word tag : tags) post.notices.items[post.notices.count++] = notice(tag);
    post.memo = &memos.emplace_back();
    post.report = &report;
    post.limits = limits;
    return post;
  }
  // A put of a row of words.
  static void add(device::Post& post, const std::vector<Word>& from, std::vector<Word>& to) {
    device::Stores put;
    put.from = reinterpret_cast<const std::byte*>(from.data());
    put.to = reinterpret_cast<std::byte*>(to.data());
    put.atom_bytes = sizeof(Word);
    put.loops.atoms = static_cast<Word>(from.size());
    put.loops.run = device::Divisor::of(put.loops.atoms);
    put.segment_atoms = put.loops.atoms;
    put.end_segment = ++post.segments;
    post.stores.items[post.stores.count++] = put;
  }
  bool take_on_stream(Word tag) {
    device::NoticeWait wait;
    wait.lanes = lanes.data();
    wait.taken = taken.data();
    wait.taken_by_host = host.taken_by_host.data();
    wait.tag = tag;
    wait.slot = 5;
    wait.told_tag = &told_tag;
    return device::take_notice(wait, limits, Alone());
  }
  bool take_on_host(Word tag) {
    return take([&](Word other) { return other == tag; });
  }
  bool take_on_host() {
    return take([](Word) { return true; });
  }

  template <class Wanted>
  bool take(const Wanted& wanted) {
    by_streams.may_be_more = true;
    return host.take(wanted, by_streams, [&] { by_streams.counts = taken; }).has_value();
  }

  device::RaisedSlot raised;
  std::deque<device::Packet> memos;  // each of a post's own
  Lanes lanes{};
  Words taken{};
  cuda::HostSlot host{};
  cuda::TakenByStreams by_streams;
  device::PostReport report;
  Word abort = 0, gave_up = 0, waiting = 0, gone = 0, over = 0, told_tag = 0;
  device::WaitLimits limits;
};

// What was put before a notice is there, whether a stream or the host waits for it, and tags take each other's lanes.
TEST(DevicePosts, NoticesComeAfterWhatWasPut) {
  constexpr Word rounds = 400, words = 40;
  Pair pair;
  std::vector<Word> there(words);
  Word read = 0;  // rounds that the owner has read
  std::thread source([&] {
    std::vector<Word> here(words);
    for (Word round = 1; round <= rounds; ++round) {
      while (device::load_acquire(&read) != round - 1) std::this_thread::yield();
      std::fill(here.begin(), here.end(), round);
      device::Post post = pair.post({round % 100});
      Pair::add(post, here, there);
      device::run_post(post, Alone(), round);
      EXPECT_EQ(device::load_acquire(&pair.report.done), round);
    }
  });
  for (Word round = 1; round <= rounds; ++round) {
    // In turns of several, so that the lanes of either side are behind those of the other.
    if (round / 7 % 2 == 0) {
      EXPECT_TRUE(pair.take_on_stream(round % 100));
    } else {
      while (!pair.take_on_host(round % 100)) std::this_thread::yield();
    }
    EXPECT_EQ(there, std::vector<Word>(words, round));
    device::store_release(&read, round);
  }
  source.join();
  EXPECT_FALSE(pair.take_on_host());
  EXPECT_EQ(pair.report.full, 0u);
}

// Posts on two streams of a source raise notices in the same slot, of one post and of two.
TEST(DevicePosts, StreamsOfASourceCountTogether) {
  constexpr Word each = 3000;
  Pair pair;
  std::atomic<int> here{0};
  const auto raise = [&here](const device::Post& shared, const device::Post& own) {
    for (++here; here < 2;) std::this_thread::yield();
    for (Word i = 0; i < each; ++i) {
      device::run_post(shared, Alone(), 0);
      device::run_post(own, Alone(), 0);
    }
  };
  const device::Post of_one = pair.post({7}), of_both = pair.post({2, 7}), of_two = pair.post({2});
  std::thread one([&] { raise(of_one, of_both); }), two([&] { raise(of_one, of_two); });
  for (Word i = 0; i < 3 * each; ++i) EXPECT_TRUE(pair.take_on_stream(7));
  one.join();
  two.join();
  for (Word i = 0; i < 2 * each; ++i) EXPECT_TRUE(pair.take_on_host(2));
  EXPECT_FALSE(pair.take_on_host());
}

// The lane of one side may come after the other side has taken its notices.
TEST(DevicePosts, ALaneThatIsBehindHasNoNotices) {
  Pair pair;
  device::run_post(pair.post({7}), Alone(), 0);
  const auto come = std::ranges::find(pair.host.lanes, device::lane_of(7, 1));
  ASSERT_NE(come, pair.host.lanes.end());
  EXPECT_TRUE(pair.take_on_stream(7));
  *come = 0;
  EXPECT_FALSE(pair.take_on_host());
}

// A post knows its lane from its last turn, and looks for it again when others have posted to the slot meanwhile.
TEST(DevicePosts, APostFindsItsLaneAgain) {
  Pair pair;
  const device::Post first = pair.post({1}), again = pair.post({1});
  const auto come = [&] {
    return std::ranges::count(pair.lanes, device::lane_of(1, 0), [](std::uint64_t lane) {
      return device::lane_of(device::tag_of_lane(lane), 0);
    });
  };
  for (int round = 0; round < 3; ++round) {
    device::run_post(first, Alone(), 0);
    device::run_post(first, Alone(), 0);
    EXPECT_TRUE(pair.take_on_stream(1));
    device::run_post(again, Alone(), 0);
    EXPECT_TRUE(pair.take_on_host(1));
    EXPECT_TRUE(pair.take_on_stream(1));
    EXPECT_EQ(come(), 1) << "a tag has two lanes";
    for (Word tag = 10; tag < 10 + notice_tags; ++tag) device::run_post(pair.post({tag}), Alone(), 0);
    EXPECT_EQ(come(), 0) << "its lane is another tag's now";
    for (Word tag = 10; tag < 10 + notice_tags; ++tag) EXPECT_TRUE(pair.take_on_stream(tag));
  }
  EXPECT_EQ(pair.report.full, 0u);
}

TEST(DevicePosts, AFullSlotIsRefusedAndNothingIsStored) {
  Pair pair;
  const std::vector<Word> here{3, 4};
  std::vector<Word> there(2);
  for (Word tag = 0; tag < notice_tags; ++tag) device::run_post(pair.post({tag}), Alone(), 0);
  device::Post post = pair.post({2, 99});
  Pair::add(post, here, there);
  device::run_post(post, Alone(), 1);
  EXPECT_EQ(pair.report.full, 1u + 5u);
  EXPECT_EQ(pair.report.full_at, 1u);
  EXPECT_EQ(pair.report.done, 1u);
  EXPECT_EQ(there, std::vector<Word>(2, 0));
  EXPECT_TRUE(pair.take_on_host(2));
  EXPECT_FALSE(pair.take_on_host(2)) << "the refused post has raised one of its notices";
  EXPECT_TRUE(pair.take_on_host(4));
  pair.report.full = 0;
  device::run_post(post, Alone(), 2);
  EXPECT_EQ(pair.report.full, 0u) << "there is a lane now";
  EXPECT_EQ(there, here);
  EXPECT_TRUE(pair.take_on_stream(2));
  EXPECT_TRUE(pair.take_on_stream(99));
}

TEST(DevicePosts, ARegionThatHasEndedIsRefused) {
  Pair pair;
  const std::vector<Word> here{3};
  std::vector<Word> there(1);
  std::uint64_t ended = 4;  // the generation before
  Word turn = 8, turns[1] = {8};
  device::Post post = pair.post({1});
  Pair::add(post, here, there);
  post.turns = turns;
  post.regions.items[post.regions.count++] = {&ended, 5, &turn, 1};
  device::run_post(post, Alone(), 1);
  EXPECT_EQ(there[0], 3u);
  EXPECT_EQ(turn, 10u);
  ended = 5;
  there[0] = 0;
  device::run_post(post, Alone(), 2);
  EXPECT_EQ(there[0], 0u);
  EXPECT_EQ(turn, 12u);
  EXPECT_EQ(pair.report.gone, 1u + 1u);
  EXPECT_EQ(pair.report.done, 2u);
  EXPECT_TRUE(pair.take_on_host(1));
  EXPECT_FALSE(pair.take_on_host(1));
  EXPECT_EQ(pair.raised.lanes[0].reserved + pair.raised.lanes[7].reserved, 0u);
}

// The owner of memory that its program has waits until a source that is storing is through, whatever is first.
TEST(DevicePosts, MemoryOfAProgramIsNotWrittenAfterItsEnd) {
  constexpr int rounds = 60;
  const Seed seed;
  std::mt19937 random(seed.value());
  std::vector<Word> there(64);
  Word turn = 0, turns[1] = {0};
  std::uint64_t ended = 0;
  for (int round = 1; round <= rounds; ++round) {
    Pair pair;
    const std::vector<Word> here(there.size(), 1);
    device::Post post = pair.post({});
    Pair::add(post, here, there);
    post.turns = turns;
    post.regions.items[post.regions.count++] = {&ended, static_cast<std::uint64_t>(round), &turn, 1};
    std::atomic<unsigned> posted{0};
    std::thread source([&] {
      for (; device::load_relaxed(&pair.report.gone) == 0; ++posted) device::run_post(post, Alone(), 0);
    });
    for (const unsigned least = random() % 20; posted < least;) std::this_thread::yield();
    std::atomic_ref(ended).store(static_cast<std::uint64_t>(round));
    device::fence_in_one_order();
    const Word before = device::load_acquire(&turn);
    while (before % 2 != 0 && device::load_acquire(&turn) == before) std::this_thread::yield();
    std::fill(there.begin(), there.end(), 2);
    source.join();
    EXPECT_EQ(there, std::vector<Word>(there.size(), 2)) << "round " << round << "; " << seed.how_to_repeat();
  }
}

TEST(DevicePosts, AWaitForWhatDoesNotComeGivesUp) {
  Pair pair;
  pair.limits.limit_ns = 20'000'000;
  EXPECT_FALSE(pair.take_on_stream(12));
  EXPECT_EQ(pair.gave_up, 1u);
  EXPECT_EQ(pair.waiting, 5u + 1u);
  EXPECT_EQ(pair.told_tag, 12u);
  EXPECT_NE(pair.over, 0u);
  const std::vector<Word> here{7};
  std::vector<Word> there(1);
  device::Post post = pair.post({1});
  Pair::add(post, here, there);
  device::run_post(post, Alone(), 1);
  EXPECT_EQ(there[0], 0u) << "what comes behind it on the stream is not done";
  EXPECT_EQ(pair.report.done, 1u);
}

}  // namespace
}  // namespace tca::test
