// Tests partners that never answer: every wait on a device ends, on every lane, and the host learns for whom
// it waited.
#include <gtest/gtest.h>

#include <array>
#include <chrono>
#include <thread>

#include "device_ranks.hpp"
#include "fabric/cuda/timeout_report.hpp"

namespace tca::test {
namespace {

constexpr double limit_s = 0.15;
constexpr Word fresh = 100;  // the last step before these tests

// By packets, 392 bytes are a chunk and one packet.
DevicePut put(int from, int to, Carrier carrier, Word run_bytes = 392) {
  return {.from = from, .to = to, .carrier = carrier, .run_bytes = run_bytes, .segments = 2};
}

testing::AssertionResult ends_in(const std::string& call, DeviceRanks& ranks, DeviceRun how) {
  how.first_step = fresh;
  const auto begin = std::chrono::steady_clock::now();
  const std::string what = ranks.run(how);
  const std::chrono::duration<double> took = std::chrono::steady_clock::now() - begin;
  if (what.find("gave up in " + call) == std::string::npos)
    return testing::AssertionFailure() << "expected to give up in " << call << ", but: " << what;
  if (took.count() < limit_s) return testing::AssertionFailure() << "gave up after " << took.count() << " s";
  return testing::AssertionSuccess();
}

// Expects that rank `rank` has reported that it waits for rank `silent` in `step`, and for no other.
void expect_told(DeviceRanks& ranks, int rank, int silent, Word step) {
  DeviceRank& told = ranks[rank];
  EXPECT_EQ(told.gave_up, DeviceRanks::chain_number);
  for (int other = 0; other < static_cast<int>(told.waiting.size()); ++other) {
    EXPECT_EQ(told.waiting[static_cast<std::size_t>(other)], other == silent ? step : fresh) << other;
  }
}

TEST(DeviceWait, OfAReceiverOfPackets) {
  DeviceRanks ranks(2, {put(0, 1, Carrier::packets)}, fresh, limit_s);
  EXPECT_TRUE(ends_in("wait 101", ranks, {.parts = {0, 3}}));
  expect_told(ranks, 1, 0, 101);
}

// The sender may run two steps ahead, and no further.
TEST(DeviceWait, OfASenderOfPackets) {
  DeviceRanks ranks(2, {put(0, 1, Carrier::packets)}, fresh, limit_s);
  EXPECT_TRUE(ends_in("start 103", ranks, {.parts = {3, 0}}));
  expect_told(ranks, 0, 1, 103);
}

TEST(DeviceWait, OfAReceiverOfStores) {
  DeviceRanks ranks(2, {put(0, 1, Carrier::stores)}, fresh, limit_s);
  EXPECT_TRUE(ends_in("wait 101", ranks, {.parts = {0, 2}}));
  expect_told(ranks, 1, 0, 101);
}

TEST(DeviceWait, OfASenderOfStores) {
  DeviceRanks ranks(2, {put(0, 1, Carrier::stores)}, fresh, limit_s);
  EXPECT_TRUE(ends_in("start 101", ranks, {.parts = {2, 0}}));
  expect_told(ranks, 0, 1, 101);
}

TEST(DeviceWait, OfAWholeGrid) {
  for (const Carrier carrier : {Carrier::packets, Carrier::stores, Carrier::signal}) {
    DeviceRanks ranks(2, {put(0, 1, carrier)}, fresh, limit_s);
    EXPECT_TRUE(ends_in("wait 101", ranks, {.parts = {0, 3}, .whole_grid = true}));
    expect_told(ranks, 1, 0, 101);
  }
}

// A partner that comes some milliseconds late is reported as well. On a busy machine that happens, but not
// every time.
TEST(DeviceWait, TellsWhichOfSeveralIsMissing) {
  for (const Carrier carrier : {Carrier::packets, Carrier::stores}) {
    const std::vector<Word> only_rank_1{fresh, 101, fresh};
    std::vector<Word> told;
    for (int attempt = 0; attempt < 5 && told != only_rank_1; ++attempt) {
      DeviceRanks ranks(3, {put(0, 2, carrier), put(1, 2, carrier)}, fresh, limit_s);
      ranks.run({.parts = {1, 0, 4}, .steps = 1, .first_step = fresh});
      EXPECT_EQ(ranks[2].gave_up, DeviceRanks::chain_number);
      EXPECT_EQ(ranks[2].waiting[1], 101u);
      told.assign(ranks[2].waiting.begin(), ranks[2].waiting.end());
    }
    EXPECT_EQ(told, only_rank_1);
  }
}

// Lanes with nothing to wait for must meet those that give up, which would otherwise wait for them for ever.
TEST(DeviceWait, EndsOnAllLanes) {
  for (const Carrier carrier : {Carrier::packets, Carrier::stores}) {
    for (const bool share : {true, false}) {
      DeviceRanks ranks(2, {put(0, 1, carrier, 8)}, fresh, limit_s);
      EXPECT_TRUE(
          ends_in("wait 101", ranks, {.parts = {0, 2}, .steps = 1, .lanes = 3, .lanes_share = share}));
      expect_told(ranks, 1, 0, 101);
      DeviceRanks others(2, {put(0, 1, carrier, 8)}, fresh, limit_s);
      const std::string call = carrier == Carrier::packets ? "start 103" : "start 101";
      EXPECT_TRUE(ends_in(call, others, {.parts = {2, 0}, .lanes = 3, .lanes_share = share}));
      expect_told(others, 0, 1, call == "start 103" ? 103 : 101);
    }
  }
}

// A part that waits for another part of its own rank gives up as well, but has no partner to accuse.
TEST(DeviceWait, OfAPartThatIsAhead) {
  DeviceRanks ranks(2, {put(0, 1, Carrier::stores)}, fresh, limit_s);
  Team team(1);
  const HostBlock ahead{team, 1, 2, 0, 1};
  EXPECT_TRUE(device::post_ready(ranks[1].chain, 101, ahead, device::PartsStart::apart));
  EXPECT_FALSE(device::post_ready(ranks[1].chain, 102, ahead, device::PartsStart::apart));
  expect_told(ranks, 1, -1, 0);
}

// The wait ends long before the time limit, and the host learns which partner it was.
TEST(DeviceWait, EndsWhenThePartnerIsGone) {
  for (const Carrier carrier : {Carrier::packets, Carrier::stores}) {
    for (const bool sends : {true, false}) {
      const int lonely = sends ? 0 : 1, gone = 1 - lonely;
      DeviceRanks ranks(2, {put(0, 1, carrier)}, fresh, 1000);
      std::jthread host([&] {
        std::this_thread::sleep_for(std::chrono::milliseconds(30));
        device::store_relaxed(&ranks[lonely].gone[static_cast<std::size_t>(gone)], 1);
      });
      EXPECT_NE(ranks.run({.parts = sends ? std::vector<Word>{3, 0} : std::vector<Word>{0, 3},
                           .first_step = fresh}),
                "");
      expect_told(ranks, lonely, gone, sends && carrier == Carrier::packets ? 103 : 101);
    }
  }
}

// The wait may since have found the last packet of the partner that is gone. A wait for other ranks then has
// its full time limit.
TEST(DeviceWait, BeginsAnewOnceWhatThePartnerLeftHasCome) {
  Word abort = 0, gave_up = 0, over = 0;
  std::array<Word, 2> waiting{}, gone{0, 1};
  const device::WaitLimits limits{&abort, &gave_up,    waiting.data(), 10'000'000'000,
                                  7,      gone.data(), nullptr,        &over};
  device::BoundedWait wait(limits, 101);
  constexpr Word polls = device::polls_between_host_checks;
  for (Word poll = 0; poll < polls; ++poll) ASSERT_TRUE(wait.keep_polling(1)) << poll;
  for (Word poll = 0; poll < 3 * polls; ++poll) ASSERT_TRUE(wait.keep_polling(device::no_link)) << poll;
  EXPECT_EQ(gave_up, 0u);
}

// These steps were put on the stream before the host learnt that nobody answered the first one.
TEST(DeviceWait, EndsBehindAWaitThatWasInVain) {
  for (const Carrier carrier : {Carrier::packets, Carrier::stores}) {
    for (const std::vector<Word>& parts : {std::vector<Word>{0, 3}, std::vector<Word>{3, 0}}) {
      DeviceRanks ranks(2, {put(0, 1, carrier)}, fresh, 1000);
      for (const int rank : {0, 1}) ranks[rank].over = 1;
      EXPECT_NE(ranks.run({.parts = parts, .first_step = fresh}), "");
      EXPECT_EQ(ranks[0].gave_up + ranks[1].gave_up, 0u);
    }
  }
}

TEST(DeviceWait, EndsWhenTheWorldHasMetAnError) {
  for (const Carrier carrier : {Carrier::packets, Carrier::stores}) {
    for (const std::vector<Word>& parts : {std::vector<Word>{0, 3}, std::vector<Word>{3, 0}}) {
      DeviceRanks ranks(2, {put(0, 1, carrier)}, fresh, 1000);
      std::jthread host([&ranks] {
        std::this_thread::sleep_for(std::chrono::milliseconds(30));
        for (const int rank : {0, 1}) device::store_relaxed(&ranks[rank].abort, 1);
      });
      EXPECT_NE(ranks.run({.parts = parts, .first_step = fresh}), "");
      EXPECT_EQ(ranks[0].gave_up + ranks[1].gave_up, 0u);
    }
  }
}

// A rank that has come after a long wait is not accused of what other ranks lack.
TEST(DeviceWait, TellsAgainOfWhatTheHostHasForgotten) {
  Word abort = 0, gave_up = 0, over = 0;
  std::array<Word, 2> waiting{}, gone{};
  const device::WaitLimits limits{&abort, &gave_up,    waiting.data(), 10'000'000'000,
                                  7,      gone.data(), nullptr,        &over};
  device::BoundedWait wait(limits, 101);
  const auto told_of = [&](Word link) {
    const auto end = std::chrono::steady_clock::now() + std::chrono::seconds(5);
    while (waiting[link] == 0 && std::chrono::steady_clock::now() < end)
      if (!wait.keep_polling(link)) return false;
    return waiting[link] == 101;
  };
  ASSERT_TRUE(told_of(1));
  ASSERT_TRUE(told_of(0));
  EXPECT_EQ(cuda::latest_wait(limits, 2).ranks, (std::vector<int>{0, 1}));
  cuda::forget_waits(waiting.data(), 2);
  ASSERT_TRUE(told_of(0));
  EXPECT_EQ(cuda::latest_wait(limits, 2).ranks, std::vector<int>{0});
}

TEST(DeviceWait, NamesNoStepAndNoRankThatItDoesNotKnow) {
  EXPECT_EQ(cuda::describe_step(7, "chain 'faces'"), "step 7 of chain 'faces'");
  EXPECT_EQ(cuda::describe_step(0, "chain 'faces'"), "chain 'faces'");
  EXPECT_EQ((cuda::TimeoutReport{"chain 'faces'", {1, 2}}).whom(), "rank 1, 2");
  EXPECT_EQ((cuda::TimeoutReport{"chain 'faces'", {}}).whom(), "its partners");
}

TEST(DeviceWait, TheLatestWaitIsNamedWhateverItsNumber) {
  const std::array<Word, 4> ranks{7, 5, 2, 4};
  for (const Word step : {Word{5}, Word{1} << 31, ~Word{0}, Word{1}}) {
    std::array<Word, 4> waiting{step, step - 2, 0, step};
    const cuda::LatestWait latest = cuda::latest_wait({.waiting = waiting.data()}, 4);
    EXPECT_EQ(latest.step, step);
    EXPECT_EQ(latest.ranks, (std::vector<int>{0, 3}));
    const device::WaitLimits by_rank{.waiting = waiting.data(), .ranks = ranks.data()};
    EXPECT_EQ(cuda::latest_wait(by_rank, 4).ranks, (std::vector<int>{7, 4}));
  }
  std::array<Word, 2> nobody{};
  EXPECT_TRUE(cuda::latest_wait({.waiting = nobody.data()}, 2).ranks.empty());
}

}  // namespace
}  // namespace tca::test
