// Symmetric memory, with ranks as threads.
#include "nvshmem/pe.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <string>

#include "bindings/nvshmem/message_of.hpp"

namespace tca::nvshmem {
namespace {

constexpr std::size_t heap = 1 << 16;

TEST(NvshmemPe, HasItsBlocksAtTheSamePlacesAsTheOthers) {
  World::run_threads(3, [](World& world) {
    Pe pe(world, heap);
    std::string complaint;

    auto* const first = static_cast<char*>(pe.allocate(100, 0, true, complaint));
    void* const second = pe.allocate(2000, 0, false, complaint);
    pe.release(first);
    void* const again = pe.allocate(50, 0, false, complaint);

    EXPECT_EQ(again, first);
    EXPECT_TRUE(std::all_of(first, first + 100, [](char c) { return c == 0; }));
    const auto places = world.all_gather(std::uint64_t{pe.offset_of(second)});
    EXPECT_EQ(std::count(places.begin(), places.end(), places[0]), 3);
    EXPECT_EQ(complaint, "");
    EXPECT_EQ(pe.allocate(0, 0, false, complaint), nullptr);
    world.barrier();
  });
}

TEST(NvshmemPe, SaysThatTheHeapIsFull) {
  World::run_threads(2, [](World& world) {
    Pe pe(world, heap);
    std::string complaint;

    EXPECT_EQ(pe.allocate(heap + 1, 0, false, complaint), nullptr);

    EXPECT_NE(complaint.find("65537 bytes do not fit: the heap has 65536 bytes"), std::string::npos)
        << complaint;
    EXPECT_NE(complaint.find("NVSHMEM_SYMMETRIC_SIZE"), std::string::npos);
    world.barrier();
  });
}

TEST(NvshmemPe, RefusesWhatIsNotSymmetric) {
  World::run_threads(2, [](World& world) {
    Pe pe(world, heap);
    std::string complaint;
    int elsewhere = 0;

    const std::string differs =
        message_of([&] { pe.allocate(world.rank() == 0 ? 100 : 1000, 0, false, complaint); });
    const std::string free = message_of([&] { pe.release(&elsewhere); });
    const std::string odd = message_of([&] { pe.allocate(8, 3, false, complaint); });

    EXPECT_NE(differs.find("PE 0 asks for 100 bytes at a multiple of 0, PE 1 for 1000"), std::string::npos)
        << differs;
    EXPECT_NE(free.find("is not memory that nvshmem_malloc has given"), std::string::npos) << free;
    EXPECT_EQ(odd, "an alignment of 3 is no power of two");
    EXPECT_FALSE(pe.holds(&elsewhere));
    EXPECT_FALSE(pe.holds(pe.heap(), heap + 1));
    world.barrier();
  });
}

TEST(NvshmemPe, RefusesHeapsOfDifferentSizes) {
  World::run_threads(2, [](World& world) {
    const std::string message = message_of([&] { Pe pe(world, world.rank() == 0 ? heap : 2 * heap); });

    EXPECT_NE(message.find("a heap of 65536 bytes and PE 1 one of 131072"), std::string::npos) << message;
    world.barrier();
  });
}

}  // namespace
}  // namespace tca::nvshmem
