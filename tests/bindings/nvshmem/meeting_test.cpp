// Barriers, sums and broadcasts of a team, with threads of the host as the lanes of the PEs' groups.
#include "nvshmem/meeting.hpp"

#include <gtest/gtest.h>

#include <array>
#include <cstring>
#include <memory>
#include <string>
#include <thread>
#include <vector>

#include "unit/device/device_ranks.hpp"
#include "unit/seed.hpp"

namespace tca::nvshmem {
namespace {

using device::Packet;

constexpr Word max_values = 5, bytes_at_most = 8 * max_values;

struct Case {
  Word pes = 2, lanes = 1, steps = 150;
  double limit_s = 30;
  int silent = -1;  // a PE that never comes
};

class Pes {
 public:
  explicit Pes(const Case& test) : test_(test), pes_(test.pes) {
    for (Word pe = 0; pe < test.pes; ++pe) {
      One& own = pes_[pe];
      own.packets.resize(std::size_t{2} * test.pes * max_values);
      own.waiting.resize(test.pes + 2);
      own.gone.resize(test.pes);
    }
    for (Word pe = 0; pe < test.pes; ++pe) {
      One& own = pes_[pe];
      own.team.rank = pe;
      own.team.size = test.pes;
      own.team.max_values = max_values;
      own.team.mine = own.packets.data();
      own.team.step = &own.step;
      for (Word to = 0; to < test.pes; ++to)
        own.team.theirs[to] = pes_[to].packets.data() + std::size_t{2} * pe * max_values;
      own.team.limits = {&abort_,
                         &own.gave_up,
                         own.waiting.data(),
                         static_cast<std::uint64_t>(test.limit_s * 1e9),
                         7,
                         own.gone.data(),
                         nullptr,
                         &own.over};
    }
  }

  void run() {
    std::vector<std::unique_ptr<test::Team>> groups;
    std::vector<std::jthread> threads;
    for (Word pe = 0; pe < test_.pes; ++pe) {
      if (static_cast<int>(pe) == test_.silent) continue;
      test::Team& group = *groups.emplace_back(std::make_unique<test::Team>(test_.lanes));
      for (Word lane = 0; lane < test_.lanes; ++lane)
        threads.emplace_back([this, pe, lane, &group] { run_lane(pe, {group, 0, 1, lane, test_.lanes}); });
    }
  }

  Word missing(Word pe) const { return pes_[pe].missing; }
  int wrong() const { return wrong_; }

 private:
  struct One {
    DeviceTeam team;
    std::vector<Packet> packets;
    std::vector<Word> waiting, gone;
    Word step = 0, gave_up = 0, over = 0, missing = nobody;
    Word plain = 0;  // that only barriers keep apart
    std::array<double, max_values> values{}, sums{};
    std::array<std::byte, bytes_at_most> bytes{}, received{};
  };

  void expect(bool good) {
    if (!good) ++wrong_;
  }

  // Each step is of another kind and of another number of values.
  void run_lane(Word pe, const test::HostBlock& lane) {
    One& own = pes_[pe];
    for (Word step = 1; step <= test_.steps; ++step) {
      Word missing = nobody;
      if (step % 3 == 0) missing = barrier(own, step, lane);
      if (step % 3 == 1) missing = sum(pe, step, lane);
      if (step % 3 == 2) missing = broadcast(pe, step, lane);
      if (lane.all(missing == nobody)) continue;
      if (missing != nobody && missing != somebody) device::store_relaxed(&own.missing, missing);
      return;
    }
  }

  // What each has stored is there for all, and nobody stores again before all have read.
  Word barrier(One& own, Word step, const test::HostBlock& lane) {
    if (lane.lane() == 0) own.plain = step;
    Word missing = Meeting(own.team, lane).barrier();
    if (missing != nobody) return missing;
    for (const One& other : pes_) expect(other.plain == step);
    return Meeting(own.team, lane).barrier();
  }

  Word sum(Word pe, Word step, const test::HostBlock& lane) {
    One& own = pes_[pe];
    const Word count = 1 + step % max_values;
    if (lane.lane() == 0)
      for (Word v = 0; v < count; ++v) own.values[v] = pe + v * 100.0 + step;
    const bool in_place = step % 2 == 0;
    double* const to = in_place ? own.values.data() : own.sums.data();
    const Word missing = Meeting(own.team, lane).sum(to, own.values.data(), count);
    lane.sync();
    for (Word v = 0; missing == nobody && v < count; ++v)
      expect(to[v] == test_.pes * (test_.pes - 1) / 2.0 + test_.pes * (v * 100.0 + step));
    lane.sync();
    return missing;
  }

  Word broadcast(Word pe, Word step, const test::HostBlock& lane) {
    One& own = pes_[pe];
    const Word root = step % test_.pes, bytes = 1 + step * 7 % bytes_at_most;
    if (lane.lane() == 0)
      std::memset(own.bytes.data(), static_cast<int>((pe + step) % 256), own.bytes.size());
    const Word missing =
        Meeting(own.team, lane).broadcast(own.received.data(), own.bytes.data(), bytes, root);
    lane.sync();
    for (Word b = 0; missing == nobody && b < bytes; ++b)
      expect(own.received[b] == static_cast<std::byte>((root + step) % 256));
    lane.sync();
    return missing;
  }

  const Case test_;
  std::vector<One> pes_;
  Word abort_ = 0;
  std::atomic<int> wrong_ = 0;
};

void expect_all_right(const Case& test) {
  Pes pes(test);
  pes.run();
  EXPECT_EQ(pes.wrong(), 0) << test.pes << " PEs of " << test.lanes << " lanes";
  for (Word pe = 0; pe < test.pes; ++pe) EXPECT_EQ(pes.missing(pe), nobody) << "PE " << pe;
}

TEST(NvshmemMeeting, BringsThreadsTogether) {
  expect_all_right({.pes = 1});
  expect_all_right({.pes = 2});
  expect_all_right({.pes = 5, .steps = 60});
}

TEST(NvshmemMeeting, BringsGroupsOfLanesTogether) {
  expect_all_right({.pes = 1, .lanes = 2});
  expect_all_right({.pes = 2, .lanes = 3, .steps = 60});
  expect_all_right({.pes = 3, .lanes = 2, .steps = 60});
}

TEST(NvshmemMeeting, SaysWhoHasNotCome) {
  for (const Word lanes : {1u, 2u}) {
    Pes pes({.pes = 3, .lanes = lanes, .limit_s = 0.05, .silent = 1});

    pes.run();

    EXPECT_EQ(pes.missing(0), 1u);
    EXPECT_EQ(pes.missing(2), 1u);
  }
}

}  // namespace
}  // namespace tca::nvshmem
