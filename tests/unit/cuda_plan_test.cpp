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

TEST(Units, CoverEveryByte) {
  EXPECT_EQ(lines_of(1), 1u);
  EXPECT_EQ(lines_of(8), 1u);
  EXPECT_EQ(lines_of(9), 2u);
  EXPECT_EQ(chunks_of(256), 1u);
  EXPECT_EQ(chunks_of(257), 2u);
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
