// What PEs on several hosts do together, with ranks as threads: memory of the host, and no streams.
#include "nvshmem/across_hosts.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <cstdint>
#include <cstring>
#include <vector>

namespace tca::nvshmem {
namespace {

AcrossHosts on_host(World& world) {
  return {world, [](void* to, const void* from, std::size_t bytes, Stream) { std::memcpy(to, from, bytes); },
          [](raw::Collective& collective, Stream) { collective.run(); }};
}

template <class T>
void expect_sums(World& world, AcrossHosts& across, tca_nvshmem_kind kind, std::size_t count) {
  const int pe = world.rank(), pes = world.size();
  std::vector<T> from(count), to(count + 1, T{7});
  for (std::size_t i = 0; i < count; ++i)
    from[i] = static_cast<T>(static_cast<T>(i % 1000) + static_cast<T>(pe));
  across.sum(kind, to.data(), from.data(), count, nullptr);
  std::size_t wrong = 0;
  for (std::size_t i = 0; i < count; ++i)
    wrong += to[i] != static_cast<T>(i % 1000) * static_cast<T>(pes) + static_cast<T>(pes * (pes - 1) / 2);
  EXPECT_EQ(wrong, 0u) << count << " values of kind " << kind;
  EXPECT_EQ(to[count], T{7});
}

// Among the sizes: one after the other of the same collective, larger ones first, and more than go at once.
TEST(NvshmemAcrossHosts, SumsEveryKindAndSize) {
  World::run_threads(3, [](World& world) {
    AcrossHosts across = on_host(world);
    for (const std::size_t count : {1u, 100u, 3u, 65u, 5000u, 0u, 1u}) {
      expect_sums<float>(world, across, tca_nvshmem_float32, count);
      expect_sums<double>(world, across, tca_nvshmem_float64, count);
      expect_sums<std::uint32_t>(world, across, tca_nvshmem_word32, count);
      expect_sums<std::uint64_t>(world, across, tca_nvshmem_word64, count);
    }
    expect_sums<double>(world, across, tca_nvshmem_float64, 2 * AcrossHosts::at_once / sizeof(double) + 5);
    world.barrier();
  });
}

TEST(NvshmemAcrossHosts, SumsInPlaceAndRoundTheWordsEnd) {
  World::run_threads(2, [](World& world) {
    AcrossHosts across = on_host(world);
    std::vector<std::uint32_t> values(9, 0xffff'fffeU + static_cast<std::uint32_t>(world.rank()));

    across.sum(tca_nvshmem_word32, values.data(), values.data(), values.size(), nullptr);

    EXPECT_EQ(values, std::vector<std::uint32_t>(9, 0xffff'fffdU));
    world.barrier();
  });
}

TEST(NvshmemAcrossHosts, BroadcastsFromEveryRoot) {
  World::run_threads(3, [](World& world) {
    AcrossHosts across = on_host(world);
    for (const std::size_t bytes : {std::size_t{1}, std::size_t{13}, AcrossHosts::at_once + 3}) {
      for (int root = 0; root < world.size(); ++root) {
        const std::vector<char> from(bytes, static_cast<char>('a' + world.rank()));
        std::vector<char> to(bytes + 1, '.');
        across.broadcast(to.data(), from.data(), bytes, root, nullptr);
        EXPECT_EQ(std::count(to.begin(), to.end(), static_cast<char>('a' + root)), static_cast<long>(bytes));
        EXPECT_EQ(to.back(), '.');
        across.barrier(nullptr);
      }
    }
    world.barrier();
  });
}

}  // namespace
}  // namespace tca::nvshmem
