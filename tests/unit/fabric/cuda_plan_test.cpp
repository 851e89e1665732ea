// Tests how the cuda fabric divides puts and what its inboxes hold, as far as that needs no GPU.
#include <gtest/gtest.h>

#include <optional>
#include <random>

#include "base/arena.hpp"
#include "fabric/cuda/compile/plan.hpp"
#include "seed.hpp"

namespace tca::cuda {
namespace {

base::Shape rows(std::uint64_t count, std::uint64_t run, std::int64_t pitch) {
  base::Shape shape;
  shape.run = run;
  shape.loop_count = 1;
  shape.loops[0] = {count, pitch, pitch};
  return shape;
}

TEST(AtomBytes, DivideRunPitchAndAddress) {
  EXPECT_EQ(atom_bytes(rows(4, 64, 128), Side::to, 0x1000, 16), 16u);
  EXPECT_EQ(atom_bytes(rows(4, 64, 128), Side::to, 0x1008, 16), 8u);
  EXPECT_EQ(atom_bytes(rows(4, 60, 128), Side::from, 0x1000, 16), 4u);
  EXPECT_EQ(atom_bytes(rows(4, 64, 130), Side::from, 0x1000, 16), 2u);
  EXPECT_EQ(atom_bytes(rows(4, 64, 128), Side::to, 0x1001, 16), 1u);
  EXPECT_EQ(atom_bytes(rows(4, 64, 128), Side::to, 0x1000, 8), 8u);
}

TEST(Parts, LeaveWhatIsOddOfALargeBlockToItself) {
  const auto runs = [](std::uint64_t bytes, int protocol) {
    base::Shape block;
    block.run = bytes;
    std::vector<std::uint64_t> all;
    for (const base::Part& part : parts_of(block, protocol)) all.push_back(part.shape.run);
    return all;
  };
  using Runs = std::vector<std::uint64_t>;
  EXPECT_EQ(runs(100'003, direct), (Runs{100'000, 3}));
  EXPECT_EQ(runs(100'003, ll), Runs{100'003});
  EXPECT_EQ(runs(100'003, copy_engine), Runs{100'003});
  EXPECT_EQ(runs(100'008, direct), Runs{100'008});
  EXPECT_EQ(runs(4'003, direct), Runs{4'003});
  EXPECT_EQ(runs(largest_part + 5, direct), (Runs{largest_part / 2, largest_part / 2, 5}));
}

TEST(Units, CoverEveryByte) {
  EXPECT_EQ(words_of(1), 1u);
  EXPECT_EQ(words_of(4), 1u);
  EXPECT_EQ(words_of(5), 2u);
  EXPECT_EQ(chunks_of(384), 1u);
  EXPECT_EQ(chunks_of(385), 2u);
  EXPECT_EQ(segments_of(0), 1u);  // a bare signal
  EXPECT_EQ(segments_of(16384), 1u);
  EXPECT_EQ(segments_of(16385), 2u);
  EXPECT_EQ(segments_of(std::uint64_t{1} << 30), 128u);
}

TEST(Packets, TakeTwoBuffersOfSixteenBytesForTwelve) {
  EXPECT_EQ(packet_bytes(4), 256u);  // whole cache lines of the L2
  EXPECT_EQ(packet_bytes(384), 2 * 512u);
  EXPECT_EQ(packet_bytes(385), 2 * 512u + 256);
  EXPECT_EQ(packet_bytes(384 << 20), std::uint64_t{1024} << 20);
  EXPECT_EQ(packet_bytes(std::uint64_t{384} << 30), std::uint64_t{1} << 40);
}

constexpr std::size_t inbox_bytes = std::size_t{128} << 20;

// The inbox of each rank when all ranks do the same: they commit one chain after another, and in each chain
// every rank puts to every other one.
class AllToAll {
 public:
  explicit AllToAll(std::size_t ranks) : others_(ranks - 1) {}

  // Returns how many of the puts to one rank, and so from one rank, go by packets, or nothing when the inbox
  // has no room for the chain.
  std::optional<int> commit(std::uint64_t bytes, int puts = 1) {
    const std::uint64_t most = room_for_packets(inbox_.largest(), others_);
    int by_packets = 0;
    for (std::uint64_t besides = packet_bytes(bytes); by_packets < puts && besides <= most;
         besides += packet_bytes(bytes))
      ++by_packets;
    constexpr std::size_t counters = 1032;
    bool fits = inbox_.take(counters).has_value();
    for (std::size_t put = 0; put < others_ * static_cast<std::size_t>(puts); ++put) {
      const bool packets = put < others_ * static_cast<std::size_t>(by_packets);
      // Room for what comes in, and for the acknowledgements of what goes out.
      fits = fits && inbox_.take(packets ? packet_bytes(bytes) : sizeof(Word) * segments_of(bytes)) &&
             inbox_.take(sizeof(Word) * (packets ? chunks_of(bytes) : 1));
    }
    if (!fits) return std::nullopt;
    return by_packets;
  }

 private:
  std::uint64_t others_;
  base::Arena inbox_{0, inbox_bytes, inbox_grain};
};

TEST(Packets, LeaveRoomForChainsThatComeLater) {
  for (const std::uint64_t mebibytes : {1u, 2u, 4u}) {
    AllToAll ranks(8);
    for (int chain = 0; chain < 50; ++chain) {
      ASSERT_TRUE(ranks.commit(mebibytes << 20).has_value()) << "chain " << chain << " of " << mebibytes;
      EXPECT_EQ(ranks.commit(1024), 1) << "behind chain " << chain << " of " << mebibytes;
    }
  }
}

// Commits any chains, few enough for the room reserved for the words that every chain needs.
TEST(Packets, AreNotWhatAnInboxRunsOutOf) {
  const test::Seed seed;
  SCOPED_TRACE(seed.how_to_repeat());
  std::mt19937 random(seed.value());
  for (const std::size_t ranks : {2u, 3u, 8u, 72u}) {
    AllToAll all(ranks);
    for (int chain = 0; chain < 100; ++chain)
      ASSERT_TRUE(all.commit(std::uint64_t{1} << random() % 23, 1 + static_cast<int>(random() % 8)))
          << "chain " << chain << " of " << ranks << " ranks";
  }
}

TEST(Packets, CarryLargeFacesOfFewRanks) {
  EXPECT_EQ(AllToAll(2).commit(4 << 20, 2), 2);
  EXPECT_EQ(AllToAll(8).commit(1 << 20), 1);
  EXPECT_EQ(AllToAll(8).commit(2 << 20), 0);
}

}  // namespace
}  // namespace tca::cuda
