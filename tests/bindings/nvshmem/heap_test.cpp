#include "nvshmem/heap.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <map>
#include <random>

#include "nvshmem/pe.hpp"
#include "seed.hpp"

namespace tca::nvshmem {
namespace {

constexpr std::size_t granule = Heap::granule;

TEST(NvshmemHeap, GivesAlignedBlocksUntilItIsFull) {
  Heap heap(8 * granule);

  const auto first = heap.take(1), aligned = heap.take(granule, 4 * granule),
             between = heap.take(3 * granule);

  EXPECT_EQ(first, 0u);
  EXPECT_EQ(aligned, 4 * granule);
  EXPECT_EQ(between, granule);
  EXPECT_EQ(heap.largest_free(), 3 * granule);
  EXPECT_FALSE(heap.take(3 * granule + 1));
  EXPECT_FALSE(heap.take(~std::size_t{0}));
}

TEST(NvshmemHeap, JoinsFreeNeighbours) {
  Heap heap(6 * granule);
  for (int block = 0; block < 6; ++block) heap.take(granule);

  for (const std::size_t block : {1u, 3u, 2u}) EXPECT_TRUE(heap.give_back(block * granule));

  EXPECT_EQ(heap.largest_free(), 3 * granule);
  EXPECT_FALSE(heap.give_back(granule));
  EXPECT_FALSE(heap.give_back(4 * granule + 8));
}

TEST(NvshmemHeap, BlocksNeverOverlapAndAllComesBack) {
  const test::Seed seed;
  SCOPED_TRACE(seed.how_to_repeat());
  std::mt19937_64 random(seed.value());
  Heap heap(1000 * granule);
  std::map<std::size_t, std::size_t> taken;

  for (int step = 0; step < 3000; ++step) {
    if (taken.empty() || random() % 2 == 0) {
      const std::size_t bytes = random() % (40 * granule) + 1, alignment = granule << random() % 4;
      const auto offset = heap.take(bytes, alignment);
      if (!offset) continue;
      EXPECT_EQ(*offset % alignment, 0u);
      const auto next = taken.lower_bound(*offset);
      EXPECT_TRUE(next == taken.end() || *offset + bytes <= next->first);
      EXPECT_TRUE(next == taken.begin() || std::prev(next)->first + std::prev(next)->second <= *offset);
      EXPECT_LE(*offset + bytes, heap.bytes());
      taken.emplace(*offset, bytes);
    } else {
      const auto block = std::next(taken.begin(), static_cast<std::ptrdiff_t>(random() % taken.size()));
      EXPECT_TRUE(heap.give_back(block->first));
      taken.erase(block);
    }
  }
  for (const auto& [offset, bytes] : taken) EXPECT_TRUE(heap.give_back(offset));

  EXPECT_EQ(heap.largest_free(), heap.bytes());
}

TEST(NvshmemHeap, ReadsItsSize) {
  EXPECT_EQ(heap_bytes(nullptr), std::size_t{1} << 30);
  EXPECT_EQ(heap_bytes("1000"), 1024u);
  EXPECT_EQ(heap_bytes("1.5K"), 1536u);
  EXPECT_EQ(heap_bytes("512M"), std::size_t{512} << 20);
  EXPECT_EQ(heap_bytes("2gb"), std::size_t{2} << 30);
  for (const char* wrong : {"many", "-1G", "1X", "1Gi", "0"})
    EXPECT_THROW(heap_bytes(wrong), Misuse) << wrong;
}

}  // namespace
}  // namespace tca::nvshmem
