// Tests the memory that is handed out in pieces: pieces that are given back are reused, whatever their sizes.
#include "base/arena.hpp"

#include <gtest/gtest.h>

#include <map>
#include <optional>
#include <random>

#include "seed.hpp"

namespace tca::test {
namespace {

TEST(Arena, GivesTheSmallestPlaceThatIsLargeEnough) {
  base::Arena arena(64, 1000);
  const std::uint64_t large = *arena.take(300), between = *arena.take(10), small = *arena.take(100);
  EXPECT_EQ(large, 64u);
  arena.take(10);
  arena.give_back(large, 300);
  arena.give_back(small, 100);
  EXPECT_EQ(arena.take(90), small);
  EXPECT_EQ(arena.take(10), small + 90);
  EXPECT_EQ(arena.take(110), large);
  EXPECT_EQ(between, large + 300);
}

TEST(Arena, JoinsNeighbours) {
  for (const std::vector<int>& order : {std::vector{0, 1, 2}, {2, 1, 0}, {0, 2, 1}, {1, 2, 0}}) {
    base::Arena arena(0, 300);
    for (int i = 0; i < 3; ++i) arena.take(100);
    EXPECT_EQ(arena.take(1), std::nullopt);
    EXPECT_EQ(arena.largest(), 0u);
    for (const int piece : order) arena.give_back(static_cast<std::uint64_t>(piece) * 100, 100);
    EXPECT_EQ(arena.taken(), 0u);
    EXPECT_EQ(arena.take(300), 0u);
  }
}

TEST(Arena, GivesOutWhatIsFreeAndNothingTwice) {
  constexpr std::size_t bytes = 1 << 16;
  const Seed seed;
  SCOPED_TRACE(seed.how_to_repeat());
  std::mt19937 random(seed.value());
  base::Arena arena(0, bytes, 128);
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
}  // namespace tca::test
