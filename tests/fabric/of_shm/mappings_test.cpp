// Counts the mappings of memory that windows and collectives cost, of which a process may have 65,530 on most
// systems.
#include <gtest/gtest.h>

#include <fstream>
#include <string>

#include "ranks.hpp"

namespace tca::test {
namespace {

int mappings() {
  std::ifstream file("/proc/self/maps");
  int count = 0;
  for (std::string line; std::getline(file, line);) ++count;
  return count;
}

// The heap and the stacks may take some, and what a sanitizer knows of them more.
#if defined(__SANITIZE_ADDRESS__) || defined(__SANITIZE_THREAD__)
constexpr int few = 64;
#else
constexpr int few = 16;
#endif

void make_windows(World& world) {
  const int before = mappings();
  std::vector<Window<int>> windows;
  for (int i = 0; i < 300; ++i) windows.push_back(world.window<int>(1 + i % 300));
  world.barrier();
  require(mappings() - before < few, "{} mappings became {}", before, mappings());
  // The last of them works like any other.
  const int other = 1 - world.rank();
  const Window<int>& last = windows.back();
  Chain chain = world.chain("last");
  chain.put(last.on(other).at(1), last.at(0), block(1)).expect(other).commit();
  fill(last, 0, 1, 5 + world.rank());
  chain.start();
  chain.wait();
  require(element(last, 1) == 5 + other, "{} came", element(last, 1));
}

TEST(Mappings, OfManyWindowsOfProcesses) { EXPECT_EQ(process_ranks()->run(2, make_windows), ""); }

TEST(Mappings, OfManyWindowsOfThreads) { EXPECT_EQ(thread_ranks()->run(2, make_windows), ""); }

TEST(Mappings, OfCollectives) {
  EXPECT_EQ(process_ranks()->run(4,
                                 [](World& world) {
                                   const int before = mappings();
                                   std::vector<AllReduce<double>> sums;
                                   for (int i = 0; i < 20; ++i) sums.emplace_back(world, "sum");
                                   require(mappings() - before < few, "{} mappings became {}", before,
                                           mappings());
                                   const double sum = sums.back().reduce(world.rank());
                                   require(sum == 6, "the sum is {}", sum);
                                 }),
            "");
}

// A large window gives back what it had.
TEST(Mappings, OfALargeWindowGo) {
  EXPECT_EQ(process_ranks()->run(2,
                                 [](World& world) {
                                   const int before = mappings();
                                   for (int i = 0; i < 20; ++i)
                                     static_cast<void>(world.window<double>(100'000));
                                   require(mappings() - before < few, "{} mappings became {}", before,
                                           mappings());
                                 }),
            "");
}

}  // namespace
}  // namespace tca::test
