// How the cuda fabric cuts puts up and hands out its room: what needs no GPU.
#include <gtest/gtest.h>

#include <map>
#include <random>

#include "fabric/cuda/arena.hpp"
#include "fabric/cuda/plan.hpp"
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

TEST(Arena, GivesOutWhatIsFreeAndNothingTwice) {
  constexpr std::size_t bytes = 1 << 16;
  const test::Seed seed;
  SCOPED_TRACE(seed.how_to_repeat());
  std::mt19937 random(seed.value());
  Arena arena(bytes);
  std::map<std::uint64_t, std::size_t> taken;
  for (int i = 0; i < 20'000; ++i) {
    if (random() % 2 == 0 && !taken.empty()) {
      const auto piece = std::next(taken.begin(), static_cast<long>(random() % taken.size()));
      arena.give_back(piece->first, piece->second);
      taken.erase(piece);
      continue;
    }
    const std::size_t wanted = 1 + random() % 2000;
    const std::optional<std::uint64_t> offset = arena.take(wanted);
    if (!offset) continue;
    EXPECT_EQ(*offset % 128, 0u);
    EXPECT_LE(*offset + wanted, bytes);
    const auto after = taken.lower_bound(*offset);
    EXPECT_TRUE(after == taken.end() || *offset + wanted <= after->first);
    EXPECT_TRUE(after == taken.begin() || std::prev(after)->first + std::prev(after)->second <= *offset);
    taken[*offset] = wanted;
  }
  for (const auto& [offset, size] : taken) arena.give_back(offset, size);
  EXPECT_EQ(arena.largest(), bytes);
}

}  // namespace
}  // namespace tca::cuda
