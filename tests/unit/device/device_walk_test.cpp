// Tests the numbers that every part of a device chain computes for itself: positions of atoms, tags of
// packets, and steps.
#include <gtest/gtest.h>

#include <cstdint>
#include <limits>
#include <set>
#include <string>
#include <thread>
#include <vector>

#include "seed.hpp"
#include "tca/device/chain.hpp"
#include "tca/device/packet.hpp"
#include "tca/device/walk.hpp"

namespace tca::test {
namespace {

using device::Divisor;
using device::Loops;
using device::Packet;
using device::Pitches;
using device::Position;
using device::Word;

constexpr Word largest = std::numeric_limits<Word>::max();

TEST(Divisor, DividesEdgeValues) {
  std::set<Word> edges{1, 2, 3, 5, 7, 9, 10, 255, 641, 65535, 65536, 65537, 6700417};
  for (int bit = 1; bit < 32; ++bit) {
    for (const Word near : {0u, 1u, 2u}) edges.insert((Word{1} << bit) - 1 + near);
  }
  for (const Word back : {0u, 1u, 2u}) edges.insert(largest - back);
  edges.erase(0);
  for (const Word value : edges) {
    const Divisor divisor = Divisor::of(value);
    EXPECT_EQ(divisor.divide(0), 0u);
    for (const Word dividend : edges) {
      EXPECT_EQ(divisor.divide(dividend), dividend / value) << dividend << " / " << value;
      // The neighbouring multiples are where a reciprocal that was rounded the wrong way fails first.
      const Word multiple = dividend / value * value;
      EXPECT_EQ(divisor.divide(multiple), multiple / value) << multiple << " / " << value;
      if (multiple == 0) continue;
      EXPECT_EQ(divisor.divide(multiple - 1), (multiple - 1) / value) << multiple - 1 << " / " << value;
    }
  }
}

TEST(Divisor, DividesRandomValues) {
  const Seed seed;
  SCOPED_TRACE(seed.how_to_repeat());
  std::mt19937 random(seed.value());
  for (int i = 0; i < 200'000; ++i) {
    // Small numbers are as frequent as large ones.
    const Word value = random_in(random, 1, largest >> random_in(random, 0, 31));
    const Word dividend = random_in(random, 0, largest >> random_in(random, 0, 31));
    ASSERT_EQ(Divisor::of(value).divide(dividend), dividend / value) << dividend << " / " << value;
  }
}

// A nest of loops as plain numbers, outermost last.
struct Nest {
  Word run;
  std::vector<Word> counts;
  std::vector<std::int64_t> pitches;

  [[nodiscard]] Loops loops() const {
    Loops loops{Divisor::of(run), {}, static_cast<Word>(counts.size()), run};
    for (std::size_t d = 0; d < counts.size(); ++d) {
      if (d + 1 < device::max_loops) loops.counts[d] = Divisor::of(counts[d]);
      loops.atoms *= counts[d];
    }
    return loops;
  }

  [[nodiscard]] Pitches pitched() const {
    Pitches made;
    std::copy(pitches.begin(), pitches.end(), made.pitch);
    return made;
  }

  // Returns the offsets of all atoms in order, computed by plain loops.
  [[nodiscard]] std::vector<std::int64_t> offsets(Word atom_bytes) const {
    const auto count = [this](std::size_t d) { return d < counts.size() ? counts[d] : 1; };
    const auto pitch = [this](std::size_t d) { return d < pitches.size() ? pitches[d] : 0; };
    std::vector<std::int64_t> all;
    for (std::int64_t i = 0; i < count(2); ++i) {
      for (std::int64_t j = 0; j < count(1); ++j) {
        for (std::int64_t k = 0; k < count(0); ++k) {
          for (std::int64_t l = 0; l < run; ++l) {
            all.push_back(i * pitch(2) + j * pitch(1) + k * pitch(0) + l * atom_bytes);
          }
        }
      }
    }
    return all;
  }
};

TEST(Loops, WalkAsNestedLoopsDo) {
  const Seed seed;
  SCOPED_TRACE(seed.how_to_repeat());
  std::mt19937 random(seed.value());
  for (int round = 0; round < 2000; ++round) {
    Nest nest{random_in(random, 1, 12), {}, {}};
    const Word depth = random_in(random, 0, device::max_loops);
    for (Word d = 0; d < depth; ++d) {
      nest.counts.push_back(random_in(random, 1, 9));
      // The pitch may be negative, and exceed 32 bits.
      nest.pitches.push_back((std::int64_t{random_in(random, 0, largest)} - (std::int64_t{1} << 31)) * 16);
    }
    const Word atom_bytes = 1u << random_in(random, 0, 4);
    const Loops loops = nest.loops();
    const Pitches pitches = nest.pitched();
    const std::vector<std::int64_t> expected = nest.offsets(atom_bytes);
    ASSERT_EQ(loops.atoms, expected.size());
    for (Word atom = 0; atom < loops.atoms; ++atom) {
      ASSERT_EQ(pitches.offset(loops.at(atom), atom_bytes), expected[atom])
          << "atom " << atom << " of run " << nest.run << ", depth " << depth;
    }
  }
}

TEST(Loops, WalkARunOfAnyLength) {
  const Loops loops{Divisor::of(largest), {}, 0, largest};
  for (const Word atom : {Word{0}, Word{1}, largest / 2, largest - 1}) {
    EXPECT_EQ(Pitches{}.offset(loops.at(atom), 16), std::int64_t{atom} * 16);
  }
}

TEST(Packets, BringTheirDataAndStep) {
  const Seed seed;
  SCOPED_TRACE(seed.how_to_repeat());
  std::mt19937_64 random(seed.value());
  for (int i = 0; i < 10'000; ++i) {
    const Word words[] = {static_cast<Word>(random()), static_cast<Word>(random()),
                          static_cast<Word>(random())};
    const auto step = static_cast<Word>(random());
    const Packet packet = device::Packet::of(words, step);
    ASSERT_TRUE(packet.carries(step));
    for (Word k = 0; k < device::Packet::words; ++k) ASSERT_EQ(packet.word(k), words[k]);
    const Word other = step ^ (1u << (random() % 32));
    ASSERT_FALSE(packet.carries(other));
    const std::uint64_t value = random();
    ASSERT_TRUE(device::Packet::of(value, step).carries(step));
    ASSERT_FALSE(device::Packet::of(value, other).carries(step));
    ASSERT_EQ(device::Packet::of(value, step).data(), value);
  }
}

// The reader acknowledges each packet, so that the writer may write the next one to the same place.
TEST(Packets, ArriveWhole) {
  constexpr Word steps = 100'000;
  const auto word = [](Word step, Word k) { return step * 2654435761u + k; };
  Packet place{};
  Word ack = 0;
  std::thread writer([&] {
    for (Word step = 1; step <= steps; ++step) {
      for (int polls = 1; !device::reached(device::load_relaxed(&ack), step - 1);)
        if (polls++ % 1024 == 0) device::yield();
      place.write(Packet::of({word(step, 0), word(step, 1), word(step, 2)}, step));
    }
  });
  int wrong = 0;
  for (Word step = 1; step <= steps; ++step) {
    Packet got = place.read_once();
    for (int polls = 1; !got.carries(step); got = place.read_once())
      if (polls++ % 1024 == 0) device::yield();
    for (Word k = 0; k < Packet::words; ++k) wrong += got.word(k) == word(step, k) ? 0 : 1;
    device::store_relaxed(&ack, step);
  }
  writer.join();
  EXPECT_EQ(wrong, 0);
}

TEST(Packets, AreNotThereInFreshMemory) {
  EXPECT_FALSE(Packet{}.carries(1));
  EXPECT_FALSE(Packet{}.carries(2));
}

// Every word of a put lies in one packet, and there are no more packets than that takes.
TEST(Packets, HoldTheWordsOfAPut) {
  constexpr Word chunks = 3;
  for (Word words = 1; words <= chunks * device::words_per_chunk; ++words) {
    std::vector<int> times(words);
    Word packets = 0;
    for (Word chunk = 0; chunk < chunks; ++chunk) {
      for (Word lane = 0; lane < device::packets_per_chunk; ++lane) {
        for (Word k = 0; k < device::Packet::words; ++k) {
          const Word word = device::word_in_put(chunk, lane, k);
          if (word >= words) continue;
          ++times[word];
          packets = chunk * device::packets_per_chunk + lane + 1;
        }
      }
    }
    ASSERT_EQ(times, std::vector<int>(words, 1));
    ASSERT_EQ(device::packets_of_words(words), packets);
  }
}

TEST(Steps, AreComparedAcrossTheirWrap) {
  const Word steps[] = {0, 1, 2, 1000, (1u << 31) - 1, 1u << 31, (1u << 31) + 1, largest - 1, largest};
  for (const Word step : steps) {
    EXPECT_TRUE(device::reached(step, step));
    for (const Word ahead : {Word{1}, Word{2}, Word{1000}, (Word{1} << 31) - 1}) {
      EXPECT_TRUE(device::reached(step + ahead, step)) << step << " + " << ahead;
      EXPECT_FALSE(device::reached(step, step + ahead)) << step << " + " << ahead;
    }
  }
}

// The table is longer than its part in the kernel's parameters.
TEST(Tables, GoOnInMemory) {
  using Numbers = device::Table<Word>;
  const std::vector<Word> more{106, 107, 108};
  Numbers table{{100, 101, 102, 103, 104, 105}, more.data(), Numbers::inlined + 3};
  for (Word i = 0; i < table.count; ++i) EXPECT_EQ(table[i], 100 + i);
}

}  // namespace
}  // namespace tca::test
