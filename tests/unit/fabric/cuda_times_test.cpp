// Tests what kernels keep of a timed chain's messages, and what the host makes of it. The kernels' side runs here as
// one thread a rank.
#include <gtest/gtest.h>

#include <array>
#include <vector>

#include "fabric/cuda/compile/times.hpp"

namespace tca::test {
namespace {

using device::Packet;
using device::TimedLink;
using device::TimeRecord;
using device::Word;

struct Told final : fabric::Arrivals {
  void add(const fabric::Arrival& arrival) override { all.push_back(arrival); }
  void add_untimed(int, std::uint64_t messages) override { untimed += messages; }
  std::vector<fabric::Arrival> all;
  std::uint64_t untimed = 0;
};

// A rank of two, with all of a chain in one part of one lane.
struct TimedRank {
  std::array<Packet, TimedLink::stamps> stamps{};
  std::vector<TimeRecord> records = std::vector<TimeRecord>(TimeRecord::kept);
  std::array<std::uint64_t, 2> last{};
  TimedLink link;
  device::Times all{&link, 1};

  static Word part() { return 0; }
  static Word parts() { return 1; }
  static Word lane() { return 0; }
  static Word lanes() { return 1; }
  const device::Times& times() const { return all; }

  void sends_to(TimedRank& other) {
    link.stamps_in = stamps.data();
    link.stamps_out = other.stamps.data();
    link.records = records.data();
    link.last = last.data();
  }
  void start(Word step) { device::note_start(*this, step); }
  void receive(Word step, bool at_once, bool may_wait = false) {
    device::note_look(*this, step, may_wait);
    device::note_arrival(*this, 0, step, at_once);
    device::note_end(*this, step);
  }
  Told tell(Word first, Word last_step) const {
    Told told;
    fabric::PartnerClock clock;
    cuda::tell_of_records(records, first, last_step, 1, clock, told);
    return told;
  }
};

struct Pair {
  TimedRank a, b;
  Pair() {
    a.sends_to(b);
    b.sends_to(a);
  }
};

TEST(CudaTimes, ARecordSaysWhenBothBeganAndWhatCameWhen) {
  Pair pair;
  pair.a.start(1);
  pair.b.start(1);
  pair.b.receive(1, false);

  const TimeRecord& record = pair.b.records[1];
  EXPECT_EQ(record.step, 1u);
  EXPECT_LE(record.started_there, record.started);
  EXPECT_LE(record.started, record.looked);
  EXPECT_LE(record.looked, record.stamp_seen);
  EXPECT_LE(record.stamp_seen, record.seen);
  EXPECT_EQ(record.stamp_looked_for, 0u);

  const Told told = pair.b.tell(1, 1);
  ASSERT_EQ(told.all.size(), 1u);
  EXPECT_FALSE(told.all[0].there_at_once);
  EXPECT_FALSE(told.all[0].is_of_host);
  EXPECT_EQ(told.all[0].seen, static_cast<std::int64_t>(record.seen));
}

TEST(CudaTimes, APartThatIsLateMakesTheMessageLateAndNoOther) {
  Pair pair;
  for (const Word step : {1u, 2u, 3u}) {
    pair.a.start(step);
    pair.b.start(step);
    pair.b.receive(step, step != 2);
    pair.a.receive(step, true);
  }

  const Told told = pair.b.tell(1, 3);

  ASSERT_EQ(told.all.size(), 3u);
  EXPECT_TRUE(told.all[0].there_at_once);
  EXPECT_FALSE(told.all[1].there_at_once);
  EXPECT_TRUE(told.all[2].there_at_once);
}

// A second look, which a step that only polls takes, is none to wait from.
TEST(CudaTimes, TheFirstLookCountsAndAStampThatComesLaterWasLookedFor) {
  Pair pair;
  pair.b.start(1);
  device::note_look(pair.b, 1, false);
  const std::uint64_t looked = pair.b.records[1].looked;
  pair.a.start(1);
  pair.b.receive(1, false);

  EXPECT_EQ(pair.b.records[1].looked, looked);
  EXPECT_EQ(pair.b.records[1].stamp_looked_for, 1u);
  EXPECT_GE(pair.b.records[1].started_there, looked);
  EXPECT_EQ(pair.b.tell(1, 1).all.at(0).sender_started,
            static_cast<std::int64_t>(pair.b.records[1].stamp_seen));  // of a crossing nobody knows yet
}

TEST(CudaTimes, AStampSaysHowLongTheLastOneWasHeld) {
  Pair pair;
  pair.a.start(1);
  pair.b.start(1);
  pair.a.receive(1, true);
  pair.b.receive(1, true);
  pair.a.start(2);
  pair.b.start(2);
  pair.b.receive(2, true);

  EXPECT_EQ(pair.b.records[2].held, pair.a.records[2].started - pair.a.records[1].stamp_seen);
}

TEST(CudaTimes, MessagesWithoutStampsAreCountedAndNotWaitedForAgain) {
  Pair pair;
  for (Word step = 1; step <= 100; ++step) {
    pair.b.start(step);
    pair.b.receive(step, true, true);
  }
  pair.a.start(101);
  pair.b.start(101);
  pair.b.receive(101, true, true);

  const Told told = pair.b.tell(1, 101);

  EXPECT_EQ(told.untimed, 100u);
  ASSERT_EQ(told.all.size(), 1u);
  EXPECT_EQ(told.all[0].step, 101u);
}

TEST(CudaTimes, TheRingGoesRoundAndStepsWrap) {
  Pair pair;
  const Word begin = ~Word{0} - 10, steps = TimeRecord::kept + 20;
  for (Word n = 1; n <= steps; ++n) {
    pair.a.start(begin + n);
    pair.b.start(begin + n);
    pair.b.receive(begin + n, true);
  }

  const Told told = pair.b.tell(begin + 21, begin + steps);

  EXPECT_EQ(told.untimed, 0u);
  EXPECT_EQ(told.all.size(), TimeRecord::kept);
}

}  // namespace
}  // namespace tca::test
