// Tests the device side of collectives, with threads as blocks. Checks the results bit by bit, step after
// step, while some ranks are late, and that the error names a rank that never comes.
#include <gtest/gtest.h>

#include <algorithm>
#include <array>
#include <atomic>
#include <cmath>
#include <cstring>
#include <functional>
#include <limits>
#include <memory>
#include <thread>

#include "device_ranks.hpp"
#include "fabric/cuda/collective/collective_plan.hpp"
#include "seed.hpp"

namespace tca::test {
namespace {

using cuda::CollectivePlace;
using device::Packet;
using fabric::CollectiveSpec;

enum class Way { packets, moves };

struct Case {
  CollectiveSpec spec;
  Way way = Way::packets;
  Word parts = 1, lanes = 1;
  std::size_t skew = 0;  // bytes by which the buffers miss the widest alignment
  bool apart = false;    // start and wait run in separate kernels
  bool relays = false;   // in a broadcast however small
  Word steps = 60;
  double limit_s = 20;
  int silent = -1;  // a rank that never starts
  Word first_step = 0;
};

// Returns a value such that sums of them depend on the order.
float value(Word step, int rank, std::size_t i) {
  const Word hash =
      (step * 7919 + static_cast<Word>(rank) * 104729 + static_cast<Word>(i) * 31) * 2654435761u >> 16;
  return (hash % 2 == 0 ? 1.0f : -1.0f) / static_cast<float>(hash % 1000 + 3);
}

std::byte byte_value(Word step, int rank, std::size_t i) {
  return static_cast<std::byte>(step * 31 + static_cast<Word>(rank) * 7 + static_cast<Word>(i) * 5 +
                                static_cast<Word>(i >> 8));
}

class Ranks {
 public:
  explicit Ranks(const Case& test)
      : test_(test), ranks_(static_cast<std::size_t>(test.spec.ranks)), came_(ranks_.size()) {
    for (Rank& rank : ranks_) set_up(rank);
    for (std::atomic<Word>& step : came_) step = test.first_step;
    for (std::size_t r = 0; r < ranks_.size(); ++r) plan(static_cast<int>(r));
  }

  // Runs all ranks. Returns the first error, or an empty string.
  std::string run(unsigned seed) {
    std::vector<std::unique_ptr<Barrier>> grids;
    std::vector<std::unique_ptr<Team>> teams;
    std::vector<std::jthread> threads;
    for (int rank = 0; rank < test_.spec.ranks; ++rank) {
      if (rank == test_.silent) continue;
      Barrier& grid = *grids.emplace_back(std::make_unique<Barrier>(test_.parts * test_.lanes));
      for (Word part = 0; part < test_.parts; ++part) {
        Team& team = *teams.emplace_back(std::make_unique<Team>(test_.lanes));
        for (Word lane = 0; lane < test_.lanes; ++lane) {
          threads.emplace_back([this, rank, seed, &team, &grid, part, lane] {
            run_lane(rank, {team, part, test_.parts, lane, test_.lanes}, grid, seed);
          });
        }
      }
    }
    threads.clear();  // joins them
    return failure_;
  }

  Word waiting(int rank, int whom) const { return at(rank).waiting[static_cast<std::size_t>(whom)]; }
  Word gave_up(int rank) const { return at(rank).gave_up; }

 private:
  struct Rank {
    std::vector<Packet> input, output;  // used as plain memory; a Packet is aligned to 16 bytes
    std::vector<Packet> packets;
    std::vector<Word> flags, acks, steps, waiting, gone;
    Word count = 0, abort = 0, gave_up = 0, over = 0;
    bool stops = false;  // the same for all threads of the rank
    device::CollectivePackets as_packets;
    device::CollectiveMoves as_moves;
    CollectivePlace place;
  };

  const Rank& at(int rank) const { return ranks_[static_cast<std::size_t>(rank)]; }
  Rank& at(int rank) { return ranks_[static_cast<std::size_t>(rank)]; }
  bool is(CollectiveKind kind) const { return test_.spec.kind == kind; }
  bool sums() const { return test_.spec.reduction.has_value(); }
  std::size_t block() const { return test_.spec.block_bytes; }
  std::size_t all_blocks() const { return block() * ranks_.size(); }
  std::size_t input_bytes() const {
    return is(CollectiveKind::all_to_all) || is(CollectiveKind::reduce_scatter) ? all_blocks() : block();
  }
  std::size_t output_bytes() const {
    return is(CollectiveKind::all_to_all) || is(CollectiveKind::all_gather) ? all_blocks() : block();
  }

  std::byte* output_of(Rank& rank) const {
    return reinterpret_cast<std::byte*>(rank.output.data()) + test_.skew;
  }
  std::byte* input_of(Rank& rank) const {
    return test_.spec.in_place ? output_of(rank)
                               : reinterpret_cast<std::byte*>(rank.input.data()) + test_.skew;
  }
  // Where this rank's input and its result begin.
  std::byte* own_input(int r) {
    return input_of(at(r)) + (is(CollectiveKind::all_gather) && test_.spec.in_place
                                  ? static_cast<std::size_t>(r) * block()
                                  : 0);
  }
  std::byte* result(int r) {
    return output_of(at(r)) + (is(CollectiveKind::reduce_scatter) && test_.spec.in_place
                                   ? static_cast<std::size_t>(r) * block()
                                   : 0);
  }

  void set_up(Rank& rank) const {
    const std::size_t size = ranks_.size(), room = all_blocks() / sizeof(Packet) + 3;
    rank.input.resize(room);
    rank.output.resize(room);
    rank.packets.resize(2 * size * device::buffer_pitch(static_cast<Word>(block() / 8 + 1)));
    rank.flags.assign((1 + test_.parts) * size, test_.first_step);
    rank.acks.assign(test_.parts * size, test_.first_step);
    rank.steps.assign(test_.parts, test_.first_step);
    rank.waiting.assign(size, test_.first_step);
    rank.gone.resize(size);
  }

  void plan(int r) {
    Rank& rank = at(r);
    CollectivePlace& place = rank.place;
    place.rank = r;
    place.input = own_input(r);
    for (Rank& other : ranks_) {
      place.inputs.push_back(input_of(other));
      place.outputs.push_back(output_of(other));
    }
    const device::WaitLimits limits{&rank.abort,
                                    &rank.gave_up,
                                    rank.waiting.data(),
                                    static_cast<std::uint64_t>(test_.limit_s * 1e9),
                                    7,
                                    rank.gone.data(),
                                    nullptr,
                                    &rank.over};
    if (test_.way == Way::packets) {
      device::CollectivePackets& packets = rank.as_packets = cuda::plan_packets(test_.spec, place);
      const Word pitch = device::buffer_pitch(packets.packets());
      for (std::size_t to = 0; to < ranks_.size(); ++to)
        packets.theirs[to] = ranks_[to].packets.data() +
                             (is(CollectiveKind::broadcast) ? 0 : 2 * pitch * static_cast<Word>(r));
      packets.mine = rank.packets.data();
      if (is(CollectiveKind::broadcast)) packets.acks = at(test_.spec.root).acks.data();
      packets.relays = test_.relays;
      packets.steps = rank.steps.data();
      packets.limits = limits;
    } else {
      device::CollectiveMoves& moves = rank.as_moves = cuda::plan_moves(test_.spec, place);
      for (std::size_t to = 0; to < ranks_.size(); ++to) moves.theirs[to] = ranks_[to].flags.data() + r;
      moves.mine = rank.flags.data();
      moves.steps = rank.steps.data();
      moves.limits = limits;
    }
  }

  // Does what a kernel does. `start` and `wait` say which phases the kernel contains.
  bool kernel(Rank& rank, const HostBlock& block, bool start, bool wait) {
    const Word step = rank.steps[block.part()] + 1;
    bool good = true;
    if (test_.way == Way::packets) {
      good = by_packets(rank, step, block, start, wait);
    } else {
      if (start) device::begin_moves(rank.as_moves, step, block);
      if (wait) good = finish(rank, step, block);
    }
    block.sync();
    if (wait && block.lane() == 0) rank.steps[block.part()] = step;
    return good;
  }
  bool by_packets(Rank& rank, Word step, const HostBlock& block, bool start, bool wait) const {
    return rank.as_packets.atom_bytes == device::piece_bytes
               ? by_packets<device::WholePieces>(rank, step, block, start, wait)
               : by_packets<device::PiecesOfAtoms>(rank, step, block, start, wait);
  }
  template <class Pieces>
  bool by_packets(Rank& rank, Word step, const HostBlock& block, bool start, bool wait) const {
    using Sum = device::Reduction<float, tca::Sum>;
    const auto go = [&](auto way) {
      const bool good = !start || way.send(rank.as_packets, step, block);
      return wait ? way.receive(rank.as_packets, step, block, good) : good;
    };
    if (is(CollectiveKind::broadcast)) return go(device::BroadcastPackets<Pieces>());
    if (sums()) return go(device::ExchangePackets<Sum, Pieces>());
    return go(device::ExchangePackets<device::Copying, Pieces>());
  }
  bool finish(Rank& rank, Word step, const HostBlock& block) const {
    using Sum = device::Reduction<float, tca::Sum>;
    return sums() ? device::finish_moves<Sum>(rank.as_moves, step, block)
                  : device::finish_moves<device::Copying>(rank.as_moves, step, block);
  }

  void run_lane(int r, const HostBlock& block, Barrier& grid, unsigned seed) {
    Rank& rank = at(r);
    const bool first = block.part() == 0 && block.lane() == 0;
    std::mt19937 random(seed + static_cast<unsigned>(r));
    const Word late = random_in(random, 1, 20);
    for (Word i = 1; i <= test_.steps; ++i) {
      const Word step = test_.first_step + i;
      if (first) {
        if (random_in(random, 0, late) == 0)
          std::this_thread::sleep_for(std::chrono::microseconds(random_in(random, 1, 200)));
        fill(r, step);
      }
      grid.arrive_and_wait();
      bool good = true;
      if (test_.apart) {
        good = kernel(rank, block, true, false);
        grid.arrive_and_wait();
        good = kernel(rank, block, false, true) && good;
      } else {
        good = kernel(rank, block, true, true);
      }
      if (!good && block.lane() == 0)
        fail("rank " + std::to_string(r) + " gave up in step " + std::to_string(step));
      grid.arrive_and_wait();
      if (first && failure().empty()) check(r, step);
      if (first) rank.stops = !failure().empty();
      grid.arrive_and_wait();
      if (rank.stops) return;
    }
  }

  void fill(int r, Word step) {
    came_[static_cast<std::size_t>(r)] = step;
    if (is(CollectiveKind::broadcast) && r != test_.spec.root) {
      std::memset(own_input(r), 0xee, block());
    } else if (sums()) {
      for (std::size_t i = 0; i < input_bytes() / sizeof(float); ++i) {
        const float one = value(step, r, i);
        std::memcpy(own_input(r) + i * sizeof one, &one, sizeof one);
      }
    } else {
      for (std::size_t i = 0; i < input_bytes(); ++i) own_input(r)[i] = byte_value(step, r, i);
    }
  }

  std::byte expected_byte(int r, Word step, std::size_t i) const {
    if (is(CollectiveKind::broadcast)) return byte_value(step, test_.spec.root, i);
    const std::size_t offset = is(CollectiveKind::all_to_all) ? static_cast<std::size_t>(r) * block() : 0;
    return byte_value(step, static_cast<int>(i / block()), offset + i % block());
  }
  float expected_sum(int r, Word step, std::size_t i) const {
    const std::size_t offset =
        is(CollectiveKind::reduce_scatter) ? static_cast<std::size_t>(r) * block() / 4 : 0;
    float sum = value(step, 0, offset + i);
    for (int other = 1; other < test_.spec.ranks; ++other) sum += value(step, other, offset + i);
    return sum;
  }

  void check(int r, Word step) {
    if (is(CollectiveKind::barrier)) return check_barrier(r, step);
    for (std::size_t i = 0; !sums() && i < output_bytes(); ++i) {
      if (result(r)[i] != expected_byte(r, step, i))
        return fail("rank " + std::to_string(r) + ", step " + std::to_string(step) + ": byte " +
                    std::to_string(i) + " is wrong");
    }
    for (std::size_t i = 0; sums() && i < block() / sizeof(float); ++i) {
      const float want = expected_sum(r, step, i);
      if (std::memcmp(result(r) + i * sizeof want, &want, sizeof want) != 0)
        return fail("rank " + std::to_string(r) + ", step " + std::to_string(step) + ": sum " +
                    std::to_string(i) + " is wrong");
    }
  }

  // Checks that no rank leaves before the last one has come. The others may be ahead by now, and steps wrap.
  void check_barrier(int r, Word step) {
    for (std::size_t other = 0; other < came_.size(); ++other) {
      if (static_cast<std::int32_t>(came_[other] - step) < 0)
        return fail("rank " + std::to_string(r) + " left step " + std::to_string(step) + " before rank " +
                    std::to_string(other) + " came");
    }
  }

  std::string failure() {
    const std::lock_guard lock(mutex_);
    return failure_;
  }
  // Records the failure and aborts all ranks, so that none waits for this one.
  void fail(const std::string& what) {
    const std::lock_guard lock(mutex_);
    if (failure_.empty()) failure_ = what;
    for (Rank& rank : ranks_) device::store_relaxed(&rank.abort, 1);
  }

  const Case test_;
  std::vector<Rank> ranks_;
  std::vector<std::atomic<Word>> came_;  // the latest step to which each rank has come
  std::mutex mutex_;
  std::string failure_;
};

CollectiveSpec spec_of(CollectiveKind kind, int ranks, std::uint64_t bytes, bool in_place) {
  CollectiveSpec spec;
  spec.kind = kind;
  spec.ranks = ranks;
  spec.root = ranks / 2;
  spec.block_bytes = bytes;
  spec.in_place = in_place || kind == CollectiveKind::broadcast;
  if (kind == CollectiveKind::all_reduce || kind == CollectiveKind::reduce_scatter) {
    spec.block_bytes = (bytes + 3) / 4 * 4;
    spec.reduction = {DataType::float32, ReduceOp::sum};
  }
  return spec;
}

class DeviceColl : public testing::TestWithParam<CollectiveKind> {
 protected:
  void run(Case test, const std::vector<std::uint64_t>& sizes) {
    const Seed seed;
    SCOPED_TRACE(seed.how_to_repeat());
    for (const std::uint64_t bytes : sizes) {
      for (const bool in_place : {true, false}) {
        test.spec = spec_of(GetParam(), test.spec.ranks, bytes, in_place);
        ASSERT_EQ(Ranks(test).run(seed.value()), "")
            << bytes << " bytes, " << test.spec.ranks << " ranks, " << (in_place ? "in place" : "apart");
      }
    }
  }
  static Case of(Way way, int ranks, Word parts, Word lanes) {
    Case test;
    test.spec.ranks = ranks;
    test.way = way;
    test.parts = parts;
    test.lanes = lanes;
    return test;
  }
};

TEST_P(DeviceColl, ByPackets) {
  if (GetParam() == CollectiveKind::barrier) return;  // a barrier has no packets
  run(of(Way::packets, 2, 1, 1), {1, 4, 8, 12, 100});
  run(of(Way::packets, 3, 2, 2), {8, 52, 1000});
  run(of(Way::packets, 6, 1, 2), {7, 64});
}
TEST_P(DeviceColl, ByMoves) {
  run(of(Way::moves, 2, 1, 1), {1, 4, 8, 12, 100});
  run(of(Way::moves, 3, 2, 2), {8, 52, 1000});
  run(of(Way::moves, 6, 1, 2), {7, 64});
}
TEST_P(DeviceColl, OfOneRank) {
  if (GetParam() != CollectiveKind::barrier) run(of(Way::packets, 1, 2, 1), {4, 100});
  run(of(Way::moves, 1, 2, 1), {4, 100});
}
TEST_P(DeviceColl, StartedAndWaitedForApart) {
  for (const Way way : {Way::packets, Way::moves}) {
    if (way == Way::packets && GetParam() == CollectiveKind::barrier) continue;
    Case test = of(way, 3, 2, 1);
    test.apart = true;
    run(test, {8, 100});
  }
}
TEST_P(DeviceColl, OfBuffersThatAreAlignedAsTheirElements) {
  for (const Way way : {Way::packets, Way::moves}) {
    if (way == Way::packets && GetParam() == CollectiveKind::barrier) continue;
    for (const std::size_t skew : {4u, 8u}) {
      Case test = of(way, 2, 1, 2);
      test.skew = skew;
      run(test, {8, 36, 200});
    }
  }
}
TEST_P(DeviceColl, StepsMayWrap) {
  Case test = of(Way::moves, 2, 1, 1);
  test.first_step = ~Word{0} - 5;
  run(test, {8});
  if (GetParam() == CollectiveKind::barrier) return;
  test.way = Way::packets;
  run(test, {8});
}

TEST_P(DeviceColl, NamesWhoNeverComes) {
  for (const Way way : {Way::packets, Way::moves}) {
    if (way == Way::packets && GetParam() == CollectiveKind::barrier) continue;
    Case test = of(way, 2, 1, 2);
    test.spec = spec_of(GetParam(), 2, 16, true);  // makes rank 1 the root of a broadcast
    test.limit_s = 0.1;
    test.silent = 1;
    Ranks ranks(test);
    EXPECT_EQ(ranks.run(1), "rank 0 gave up in step 1");
    EXPECT_EQ(ranks.gave_up(0), 7u);
    EXPECT_EQ(ranks.waiting(0, 1), 1u);
  }
}

// Each receiver has some packets to pass on: 32 that follow each other go through one.
TEST(DeviceCollBroadcast, GoesThroughItsReceivers) {
  const Seed seed;
  SCOPED_TRACE(seed.how_to_repeat());
  for (const int ranks : {3, 4, 6}) {
    for (const bool apart : {false, true}) {
      Case test;
      test.spec =
          spec_of(CollectiveKind::broadcast, ranks, 256 * (static_cast<unsigned>(ranks) - 1) + 9, true);
      test.parts = ranks < 6 ? 2 : 1;
      test.relays = true;
      test.apart = apart;
      test.steps = 20;
      ASSERT_EQ(Ranks(test).run(seed.value()), "") << ranks << " ranks" << (apart ? ", apart" : "");
    }
  }
}

// The root runs ahead by two steps and no further.
TEST(DeviceCollBroadcast, WaitsForItsReaders) {
  Case test;
  test.spec = spec_of(CollectiveKind::broadcast, 2, 16, true);
  test.limit_s = 0.1;
  test.silent = 0;
  Ranks ranks(test);
  EXPECT_EQ(ranks.run(1), "rank 1 gave up in step 3");
  EXPECT_EQ(ranks.waiting(1, 0), 3u);
}

std::string name_of(const testing::TestParamInfo<CollectiveKind>& info) {
  constexpr const char* names[]{"Barrier",   "Broadcast",     "AllGather",
                                "AllReduce", "ReduceScatter", "AllToAll"};
  return names[static_cast<int>(info.param)];
}

INSTANTIATE_TEST_SUITE_P(Patterns, DeviceColl,
                         testing::Values(CollectiveKind::barrier, CollectiveKind::broadcast,
                                         CollectiveKind::all_gather, CollectiveKind::all_reduce,
                                         CollectiveKind::reduce_scatter, CollectiveKind::all_to_all),
                         name_of);

// Kernels combine a vector of values at once.
TEST(DeviceReduction, KeepsNansInEveryPlaceOfAPiece) {
  using Piece = std::array<float, 4>;
  const float nan = std::numeric_limits<float>::quiet_NaN();
  for (std::size_t at = 0; at < 4; ++at) {
    Piece left{1, 2, 3, 4}, right{4, 3, 2, 1};
    (at % 2 == 0 ? left : right)[at] = nan;
    const Piece most = device::Reduction<float, Max>::combine(left, right);
    const Piece least = device::Reduction<float, Min>::combine(left, right);
    for (std::size_t i = 0; i < 4; ++i) {
      EXPECT_EQ(std::isnan(most[i]), i == at);
      EXPECT_EQ(std::isnan(least[i]), i == at);
      if (i == at) continue;
      EXPECT_EQ(most[i], std::max(left[i], right[i]));
      EXPECT_EQ(least[i], std::min(left[i], right[i]));
    }
  }
}

TEST(CollPlan, TakesPacketsForFewBytes) {
  const auto first = [](CollectiveKind kind, std::uint64_t bytes) {
    return cuda::collective_ways(spec_of(kind, 4, bytes, true)).front().name;
  };
  for (const CollectiveKind kind :
       {CollectiveKind::broadcast, CollectiveKind::all_gather, CollectiveKind::all_reduce,
        CollectiveKind::reduce_scatter, CollectiveKind::all_to_all}) {
    EXPECT_EQ(first(kind, 8), cuda::kernel_ll);
    EXPECT_EQ(first(kind, 8192), cuda::kernel_ll);
    EXPECT_EQ(first(kind, 64 << 20), cuda::kernel_direct);
  }
  EXPECT_EQ(first(CollectiveKind::barrier, 0), cuda::kernel_direct);
}

// Every byte of an allreduce belongs to exactly one rank.
TEST(CollPlan, CutsIntoSlicesWithoutGaps) {
  for (const std::uint64_t bytes : {4u, 16u, 60u, 1000u, 4096u}) {
    for (int ranks = 1; ranks <= 9; ++ranks) {
      const CollectiveSpec spec = spec_of(CollectiveKind::all_reduce, ranks, bytes, true);
      std::vector<Packet> memory(bytes / 16 + 1);
      auto* const data = reinterpret_cast<std::byte*>(memory.data());
      const std::vector<std::byte*> all(static_cast<std::size_t>(ranks), data);
      std::byte* next = data;
      for (int rank = 0; rank < ranks; ++rank) {
        const device::CollectiveMoves moves = cuda::plan_moves(spec, {rank, data, all, all});
        EXPECT_EQ(moves.from[0], next);
        EXPECT_EQ(moves.atom_bytes, 16u);
        next += moves.bytes[0];
      }
      EXPECT_EQ(next, data + bytes);
    }
  }
}

}  // namespace
}  // namespace tca::test
