// Tests puts that a kernel makes by itself: the bytes they move, the puts they refuse, and that a signal
// comes after them.
#include <gtest/gtest.h>

#include <array>
#include <chrono>
#include <cstring>
#include <thread>

#include "device_ranks.hpp"
#include "seed.hpp"
#include "tca/device/puts.hpp"

namespace tca::test {
namespace {

// A lane of a block whose lanes run one after the other in one thread, which suffices for a copy.
struct Lane {
  Word lane_, lanes_;
  [[nodiscard]] Word lane() const { return lane_; }
  [[nodiscard]] Word lanes() const { return lanes_; }
  void sync() const {}
};

// Memory that is aligned for the widest atom.
struct Memory {
  explicit Memory(std::size_t bytes) : packets(bytes / sizeof(device::Packet) + 1) {}
  std::byte* data() { return reinterpret_cast<std::byte*>(packets.data()); }
  std::vector<device::Packet> packets;
};

void fill(std::byte* memory, std::size_t bytes, unsigned seed) {
  for (std::size_t i = 0; i < bytes; ++i) memory[i] = static_cast<std::byte>(i * 7 + (i >> 8) + seed);
}

// A window whose parts on all ranks lie in this process.
template <class T>
struct Parts {
  explicit Parts(const std::vector<std::size_t>& elements) {
    for (const std::size_t count : elements) {
      const auto rank = view.size = static_cast<Word>(memory.size());
      memory.emplace_back(count * sizeof(T));
      view.elements[rank] = count;
    }
    view.size = static_cast<Word>(memory.size());
    for (Word rank = 0; rank < view.size; ++rank)
      view.parts[rank] = reinterpret_cast<T*>(memory[rank].data());
    view.number = 3;
    view.refused = &refused;
    view.refusal = &refusal;
  }
  std::vector<Memory> memory;
  Word refused = 0;
  device::Refusal refusal;
  DeviceWindow<T> view;
};

// However the two ends are aligned, the put moves exactly the bytes that were named.
TEST(DevicePuts, OfAnyAlignment) {
  constexpr std::size_t room = 256;
  Memory from(room), to(room);
  fill(from.data(), room, 0);
  std::array<std::byte, room> expected;
  for (const Word lanes : {1u, 3u, 32u}) {
    for (std::size_t source = 0; source < 16; ++source) {
      for (std::size_t target = 16; target < 32; ++target) {
        for (std::size_t bytes = 0; bytes < 200; bytes = bytes < 70 ? bytes + 1 : bytes + 23) {
          fill(to.data(), room, 100);
          std::memcpy(expected.data(), to.data(), room);
          std::memcpy(expected.data() + target, from.data() + source, bytes);
          for (Word lane = 0; lane < lanes; ++lane) {
            device::copy_bytes<std::uint8_t>(to.data() + target, from.data() + source, bytes,
                                             Lane{lane, lanes});
          }
          ASSERT_EQ(std::memcmp(to.data(), expected.data(), room), 0)
              << bytes << " bytes from " << source << " to " << target << " by " << lanes << " lanes";
        }
      }
    }
  }
}

struct Triple {  // neither as long as an atom nor as a divisor of one
  float x, y, z;
};
struct alignas(16) Wide {
  double x[4];
};

template <class T>
class DevicePutsOf : public testing::Test {};
using Elements = testing::Types<std::uint8_t, std::uint16_t, float, double, Triple, Wide>;
TYPED_TEST_SUITE(DevicePutsOf, Elements);

TYPED_TEST(DevicePutsOf, RandomElements) {
  using T = TypeParam;
  const Seed seed;
  SCOPED_TRACE(seed.how_to_repeat());
  std::mt19937 random(seed.value());
  constexpr Word room = 300;
  Memory source(room * sizeof(T));
  Parts<T> parts({room, room / 2, room});
  std::vector<std::byte> expected(room * sizeof(T));
  for (int round = 0; round < 1000; ++round) {
    const Word rank = random_in(random, 0, 2), have = static_cast<Word>(parts.view.elements[rank]);
    const Word count = random_in(random, 0, have), offset = random_in(random, 0, have - count);
    const Word first = random_in(random, 0, room - count), lanes = random_in(random, 1, 40);
    std::byte* target = parts.memory[rank].data();
    fill(source.data(), room * sizeof(T), static_cast<unsigned>(round));
    std::memcpy(expected.data(), target, have * sizeof(T));
    std::memcpy(expected.data() + offset * sizeof(T), source.data() + first * sizeof(T), count * sizeof(T));
    const T* from = reinterpret_cast<const T*>(source.data()) + first;
    for (Word lane = 0; lane < lanes; ++lane)
      ASSERT_TRUE(device::put_elements(parts.view, rank, offset, from, count, Lane{lane, lanes}));
    ASSERT_EQ(std::memcmp(target, expected.data(), have * sizeof(T)), 0)
        << count << " elements from " << first << " to " << offset << " of rank " << rank;
  }
  EXPECT_EQ(parts.refused, 0u);
}

TYPED_TEST(DevicePutsOf, AValueIsTheFirstLanes) {
  using T = TypeParam;
  Parts<T> parts({5, 5});
  T values[3];
  fill(reinterpret_cast<std::byte*>(values), sizeof values, 1);
  std::vector<std::byte> expected(5 * sizeof(T));
  std::memcpy(expected.data() + 4 * sizeof(T), &values[0], sizeof(T));
  for (Word lane = 0; lane < 3; ++lane)
    ASSERT_TRUE(device::put_value(parts.view, 1, 4, values[lane], Lane{lane, 3}));
  EXPECT_EQ(std::memcmp(parts.memory[1].data(), expected.data(), expected.size()), 0);
}

// A put outside the target's part.
struct Outside {
  Word rank;
  std::uint64_t offset, count;
};

TEST(DevicePuts, OutsideTheTargetAreRefused) {
  constexpr std::uint64_t huge = ~std::uint64_t{0};
  const std::vector<double> source(100, 1.5);
  for (const Outside& put : {Outside{1, 0, 8},
                             {1, 7, 1},
                             {1, 8, 0},
                             {1, 5, 3},
                             {1, huge, 1},
                             {1, huge, 2},
                             {1, 1, huge},
                             {0, 20, 1},
                             {2, 0, 0},
                             {DeviceWindow<double>::max_ranks, 0, 1},
                             {~Word{0}, 0, 1}}) {
    Parts<double> parts({20, 7});
    for (Word lane = 0; lane < 3; ++lane) {
      EXPECT_FALSE(
          device::put_elements(parts.view, put.rank, put.offset, source.data(), put.count, Lane{lane, 3}));
    }
    EXPECT_EQ(parts.refused, 1u) << "told by more lanes than one";
    EXPECT_EQ(parts.refusal.window, 3u);
    EXPECT_EQ(parts.refusal.rank, put.rank);
    EXPECT_EQ(parts.refusal.offset, put.offset);
    EXPECT_EQ(parts.refusal.count, put.count);
    EXPECT_EQ(parts.refusal.held, put.rank == 0 ? 20u : put.rank == 1 ? 7u : 0u);
    for (Memory& memory : parts.memory) {
      for (const device::Packet& packet : memory.packets)
        ASSERT_EQ(packet.low | packet.high, 0u) << "something was stored";
    }
  }
}

TEST(DevicePuts, OnlyTheFirstRefusalIsTold) {
  Parts<int> parts({4, 4});
  const Lane alone{0, 1};
  EXPECT_FALSE(device::put_value(parts.view, 1, 4, 9, alone));
  EXPECT_FALSE(device::put_value(parts.view, 0, 17, 9, alone));
  EXPECT_TRUE(device::put_value(parts.view, 0, 3, 9, alone));  // other puts go on
  EXPECT_EQ(parts.refused, 2u);
  EXPECT_EQ(parts.refusal.rank, 1u);
  EXPECT_EQ(parts.refusal.offset, 4u);
  EXPECT_EQ(parts.view.parts[0][3], 9);
}

// A ring of ranks with one block each, whose lanes are threads. Signals work as those of BlockTeam.
class Ring {
 public:
  static constexpr Word room = 90;

  Ring(Word ranks, Word lanes, double limit_s)
      : ranks_(ranks),
        lanes_(lanes),
        parts_(std::vector<std::size_t>(ranks, room)),
        waiting_(ranks),
        gone_(ranks) {
    for (Word rank = 0; rank < ranks; ++rank) {
      teams_.push_back(std::make_unique<Team>(lanes));
      signals_.push_back(std::make_unique<Signals>());
      sources_.emplace_back(room);
      limits_.push_back({&abort_, &gave_up_, waiting_.data(), static_cast<std::uint64_t>(limit_s * 1e9), 7,
                         gone_.data(), nullptr, &over_});
    }
  }

  // Runs every rank but the last `silent` ones. Returns the first error.
  std::string run(Word steps, Word silent = 0) {
    std::vector<std::jthread> threads;
    for (Word rank = 0; rank < ranks_ - silent; ++rank) {
      for (Word lane = 0; lane < lanes_; ++lane) {
        threads.emplace_back([this, rank, lane, steps] {
          run_lane(rank, {*teams_[rank], 0, 1, lane, lanes_}, steps);
        });
      }
    }
    threads.clear();  // joins them
    return failure_;
  }

  [[nodiscard]] Word gave_up() const { return gave_up_; }

 private:
  // Signals at a rank: `arrived` from the left neighbour says that a put is there, `read` from the right
  // neighbour says that the last put has been read.
  struct Signals {
    Word arrived = 0, read = 0;
  };

  static double value(Word rank, Word step, Word i) { return rank * 1e6 + step * 1e3 + i; }

  void raise(const HostBlock& block, Word* signal, Word step) {
    block.sync();
    if (block.lane() == 0) device::store_release(signal, step);
  }
  bool awaits(const HostBlock& block, const Word* signal, Word step, Word rank) {
    const bool here = block.lane() != 0 || device::await(signal, step, device::no_link, limits_[rank]);
    return block.all(here);
  }

  void run_lane(Word rank, HostBlock block, Word steps) {
    const Word left = (rank + ranks_ - 1) % ranks_, right = (rank + 1) % ranks_;
    for (Word step = 1; step <= steps; ++step) {
      // Each step puts another run of elements, so that both ends take every alignment.
      const Word first = step % 7, offset = step % 5, count = room - 7;
      if (!awaits(block, &signals_[rank]->read, step - 1, rank))
        return fail("no room in step " + std::to_string(step));
      std::vector<double>& source = sources_[rank];
      for (Word i = block.lane(); i < room; i += lanes_) source[i] = value(rank, step, i);
      device::put_elements(parts_.view, right, offset, source.data() + first, count, block);
      for (Word i = block.lane(); i < room; i += lanes_) source[i] = -1;
      raise(block, &signals_[right]->arrived, step);
      if (!awaits(block, &signals_[rank]->arrived, step, rank))
        return fail("nothing in step " + std::to_string(step));
      for (Word i = block.lane(); i < count; i += lanes_) {
        if (parts_.view.parts[rank][offset + i] != value(left, step, first + i))
          fail("rank " + std::to_string(rank) + " has the wrong element " + std::to_string(i));
      }
      raise(block, &signals_[left]->read, step);
    }
  }

  void fail(const std::string& what) {
    const std::lock_guard lock(mutex_);
    if (failure_.empty()) failure_ = what;
  }

  Word ranks_, lanes_;
  Parts<double> parts_;
  std::vector<std::vector<double>> sources_;
  std::vector<std::unique_ptr<Team>> teams_;
  std::vector<std::unique_ptr<Signals>> signals_;
  std::vector<device::WaitLimits> limits_;
  Word abort_ = 0, gave_up_ = 0, over_ = 0;
  std::vector<Word> waiting_, gone_;
  std::mutex mutex_;
  std::string failure_;
};

TEST(DevicePuts, AreThereWhenTheirSignalIs) {
  for (const Word ranks : {1u, 2u, 3u}) {
    for (const Word lanes : {1u, 3u}) {
      Ring ring(ranks, lanes, 20);
      EXPECT_EQ(ring.run(lanes == 1 ? 2000 : 300), "") << ranks << " ranks of " << lanes << " lanes";
    }
  }
}

TEST(DevicePuts, AWaitForASignalThatNeverComesEnds) {
  constexpr double limit_s = 0.15;
  Ring ring(2, 3, limit_s);
  const auto begin = std::chrono::steady_clock::now();
  EXPECT_EQ(ring.run(10, 1), "nothing in step 1");
  EXPECT_GE(std::chrono::duration<double>(std::chrono::steady_clock::now() - begin).count(), limit_s);
  EXPECT_EQ(ring.gave_up(), 7u);
}

}  // namespace
}  // namespace tca::test
