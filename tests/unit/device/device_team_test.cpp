// Tests the sums over all blocks of all ranks, with threads of the host as the lanes of blocks.
#include <gtest/gtest.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <map>
#include <memory>
#include <mutex>
#include <thread>

#include "device_ranks.hpp"
#include "seed.hpp"
#include "tca/device/team_packets.hpp"
#include "tca/operations.hpp"

namespace tca::test {
namespace {

using device::Packet;

struct GridCase {
  Word ranks = 2, blocks = 2, lanes = 2;
  Word max_values = 4, max_blocks = 5;
  Word steps = 200;
  Word first_step = 0;
  double limit_s = 30;
  int silent = -1;        // a rank that never comes
  Word other_blocks = 0;  // of rank 0 as it tells the others; 0 where it is `blocks`
};

// The ranks of a team, whose grids sum in every step a number of values that changes from step to step.
class Grids {
 public:
  explicit Grids(const GridCase& test) : test_(test), ranks_(test.ranks) {
    const std::size_t packets = 2 * test.ranks * test.max_values * (test.max_blocks + 2);
    for (Word r = 0; r < test.ranks; ++r) {
      Rank& rank = ranks_[r];
      rank.packets.resize(packets);
      rank.waiting.resize(test.ranks + 1);
      rank.gone.resize(test.ranks);
      for (auto& came : rank.came) came.assign(test.blocks, test.first_step);
    }
    for (Word r = 0; r < test.ranks; ++r) {
      Rank& rank = ranks_[r];
      rank.team.rank = r;
      rank.team.size = test.ranks;
      rank.team.max_values = test.max_values;
      rank.team.max_blocks = test.max_blocks;
      rank.team.mine = rank.packets.data();
      for (Word to = 0; to < test.ranks; ++to)
        rank.team.theirs[to] = ranks_[to].packets.data() + 2 * r * test.max_values;
      rank.team.limits = {&abort_,
                          &rank.gave_up,
                          rank.waiting.data(),
                          static_cast<std::uint64_t>(test.limit_s * 1e9),
                          7,
                          rank.gone.data(),
                          nullptr,
                          &rank.over};
    }
  }

  // Returns the first error.
  std::string run(unsigned seed) {
    std::vector<std::unique_ptr<Team>> teams;
    std::vector<std::unique_ptr<BlockMemory>> memories;
    std::vector<std::jthread> threads;
    for (Word r = 0; r < test_.ranks; ++r) {
      if (static_cast<int>(r) == test_.silent) continue;
      for (Word block = 0; block < test_.blocks; ++block) {
        Team& team = *teams.emplace_back(std::make_unique<Team>(test_.lanes));
        BlockMemory& memory = *memories.emplace_back(std::make_unique<BlockMemory>());
        memory.values.resize(test_.max_values);
        for (Word lane = 0; lane < test_.lanes; ++lane) {
          threads.emplace_back([this, r, &team, &memory, block, lane, seed] {
            run_lane(r, {team, block, test_.blocks, lane, test_.lanes}, memory, seed);
          });
        }
      }
    }
    threads.clear();  // joins them
    return failure_;
  }

  Word gave_up(Word rank) const { return ranks_[rank].gave_up; }
  Word waiting(Word rank, Word of) const { return ranks_[rank].waiting[of]; }

 private:
  struct Rank {
    DeviceTeam team;
    std::vector<Packet> packets;
    std::vector<Word> waiting, gone;
    Word gave_up = 0, over = 0;
    // By block, for odd and even steps: the step to which it has come, in plain memory.
    std::array<std::vector<Word>, 2> came;
  };
  // What the lanes of a block share.
  struct BlockMemory {
    std::vector<double> values;
    std::array<std::uint64_t, device::GridStep::scratch_size> scratch;
  };

  static double share(Word rank, Word block, Word value, Word step) {
    return 1.0 / (1 + rank * 7 + block * 3 + value + step % 50);
  }
  static Word count_in(Word step, Word max_values) { return 1 + step * 7 % max_values; }

  // Whatever the order of a sum, its roundings stay below this.
  static bool is_near(double is, double should) { return std::abs(is - should) < 1e-13 * should; }

  void run_lane(Word r, const HostBlock& block, BlockMemory& memory, unsigned seed) {
    Rank& rank = ranks_[r];
    std::mt19937 random(seed + 100 * r + block.part());
    for (Word i = 1; i <= test_.steps; ++i) {
      const Word step = test_.first_step + i, count = count_in(i, test_.max_values);
      if (block.lane() == 0) {
        if (random_in(random, 0, 20) == 0)
          std::this_thread::sleep_for(std::chrono::microseconds(random_in(random, 1, 100)));
        for (Word v = 0; v < count; ++v) memory.values[v] = share(r, block.part(), v, i);
        rank.came[i % 2][block.part()] = step;
      }
      const Word told = r == 0 && test_.other_blocks > 0 ? test_.other_blocks : block.parts();
      const device::GridStep sum{rank.team, step, block.part(), told, i % 3 == 0};
      const bool good = i % 5 == 0
                            ? sum.reduce(memory.values.data(), count, Max(), memory.scratch.data(), block)
                            : sum.reduce(memory.values.data(), count, Sum(), memory.scratch.data(), block);
      if (!good) {
        if (block.lane() == 0) fail("rank " + std::to_string(r) + " gave up in step " + std::to_string(step));
        return;
      }
      if (block.lane() == 0) check(r, i, step, memory.values, count);
      block.sync();
    }
  }

  void check(Word r, Word i, Word step, const std::vector<double>& values, Word count) {
    for (const Word came : ranks_[r].came[i % 2])
      if (came != step)
        fail("a block left step " + std::to_string(step) + " before another of rank " + std::to_string(r) +
             " came");
    for (Word v = 0; v < count; ++v) {
      double sum = 0, greatest = 0;
      for (Word rank = 0; rank < test_.ranks; ++rank) {
        for (Word block = 0; block < test_.blocks; ++block) {
          sum += share(rank, block, v, i);
          greatest = std::max(greatest, share(rank, block, v, i));
        }
      }
      if (i % 5 == 0 ? values[v] != greatest : !is_near(values[v], sum))
        fail("rank " + std::to_string(r) + ", step " + std::to_string(step) + ": value " + std::to_string(v) +
             " is " + std::to_string(values[v]) + ", not " + std::to_string(i % 5 == 0 ? greatest : sum));
      same_bits(i, v, values[v]);
    }
  }

  // Every block of every rank has the bits that the first one had.
  void same_bits(Word i, Word v, double value) {
    const std::lock_guard lock(mutex_);
    const auto [first, is_new] = results_.try_emplace({i, v}, device::bits_of(value));
    if (first->second != device::bits_of(value) && failure_.empty())
      failure_ = "other bits in step " + std::to_string(i);
  }

  void fail(const std::string& what) {
    const std::lock_guard lock(mutex_);
    if (failure_.empty()) failure_ = what;
    const bool all_give_up = test_.silent >= 0 || test_.other_blocks > 0;  // by themselves
    if (!all_give_up) device::store_relaxed(&abort_, 1);
  }

  const GridCase test_;
  std::vector<Rank> ranks_;
  Word abort_ = 0;
  std::mutex mutex_;
  std::map<std::pair<Word, Word>, std::uint64_t> results_;
  std::string failure_;
};

void expect_sums(const GridCase& test) {
  const Seed seed;
  EXPECT_EQ(Grids(test).run(seed.value()), "") << test.ranks << " ranks of " << test.blocks << " blocks of "
                                               << test.lanes << " lanes; " << seed.how_to_repeat();
}

TEST(DeviceGridSums, InOneTrip) {
  expect_sums({.ranks = 1, .blocks = 1, .lanes = 1});
  expect_sums({.ranks = 1, .blocks = 4, .lanes = 1});
  expect_sums({.ranks = 2, .blocks = 3, .lanes = 2});
  expect_sums({.ranks = 6, .blocks = 2, .lanes = 1});
  expect_sums({.ranks = 2, .blocks = 10, .lanes = 1, .max_blocks = 10, .steps = 50});
}

// More values than one trip takes, so that some steps take one trip and others two.
TEST(DeviceGridSums, InTwoTrips) {
  expect_sums({.ranks = 1, .blocks = 3, .lanes = 2, .max_values = 600, .steps = 60});
  expect_sums({.ranks = 3, .blocks = 2, .lanes = 2, .max_values = 700, .steps = 60});
  expect_sums({.ranks = 2, .blocks = 9, .lanes = 1, .max_values = 200, .max_blocks = 9, .steps = 40});
}

TEST(DeviceGridSums, StepsMayWrap) {
  expect_sums(
      {.ranks = 2, .blocks = 2, .lanes = 1, .max_values = 300, .steps = 20, .first_step = ~Word{0} - 9});
}

TEST(DeviceGridSums, NamesWhoNeverComes) {
  Grids grids({.ranks = 3, .blocks = 2, .lanes = 2, .limit_s = 0.1, .silent = 1});
  EXPECT_NE(grids.run(1), "");
  EXPECT_EQ(grids.gave_up(0), 7u);
  EXPECT_EQ(grids.waiting(0, 1), 1u);
}

// Rank 0 takes its grid for another size than it has.
TEST(DeviceGridSums, OfGridsOfDifferentSizesEndByTheTimeLimit) {
  Grids grids({.ranks = 2, .blocks = 2, .lanes = 1, .limit_s = 0.1, .other_blocks = 3});
  EXPECT_NE(grids.run(1), "");
  EXPECT_EQ(grids.gave_up(1), 7u);
  EXPECT_EQ(grids.waiting(1, 0), 1u);
}

}  // namespace
}  // namespace tca::test
