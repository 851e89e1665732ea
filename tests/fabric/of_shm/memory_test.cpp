// Measures the memory that chains cost: up to a thousand of them on each of 64 ranks. ctest runs each test in
// a process of its own. In one process, the second test would reuse the heap of the first.
#include <gtest/gtest.h>
#include <malloc.h>

#include <algorithm>
#include <chrono>
#include <cstdio>
#include <fstream>

#include "ranks.hpp"

namespace tca::test {
namespace {

constexpr int ranks = 64, puts = 8;
constexpr std::int64_t bytes = 64;

double resident_mebibytes() {
  std::ifstream file("/proc/self/smaps_rollup");
  for (std::string word; file >> word;) {
    double kibibytes = 0;
    if (word == "Rss:" && file >> kibibytes) return kibibytes / 1024;
  }
  throw Mismatch("/proc/self/smaps_rollup, which tells what is resident, cannot be read");
}

double heap_mebibytes() {
  const struct mallinfo2 info = mallinfo2();
  return static_cast<double>(info.uordblks + info.hblkhd) / (1 << 20);
}

struct Figures {
  double resident, heap, seconds;
};

// Put k of each chain goes to the rank that is `distance(k)` further on, cyclically.
Figures measure(int chain_count, const std::function<int(int put)>& distance) {
  Figures figures{};
  World::run_threads(
      ranks,
      [&](World& world) {
        const Window<char> sources = world.window<char>(puts * bytes),
                           targets = world.window<char>(puts * bytes);
        std::fill(sources.elements().begin(), sources.elements().end(), 'a');
        std::fill(targets.elements().begin(), targets.elements().end(), 'b');
        const auto commit = [&] {
          Chain chain = world.chain("small");
          for (int k = 0; k < puts; ++k) {
            const int to = (world.rank() + distance(k) + ranks) % ranks,
                      from = (world.rank() - distance(k) + ranks) % ranks;
            chain.put(targets.on(to).at(k * bytes), sources.at(k * bytes), block(bytes)).expect(from);
          }
          chain.commit();
          return chain;
        };
        std::vector<Chain> chains;
        chains.reserve(static_cast<std::size_t>(chain_count) + 1);
        // The first one makes the pages of the threads' stacks resident, which are not the chains'.
        chains.push_back(commit());
        chains.back().run();
        world.barrier();
        const Figures before{resident_mebibytes(), heap_mebibytes(), 0};
        const auto begin = std::chrono::steady_clock::now();
        world.barrier();
        for (int c = 0; c < chain_count; ++c) chains.push_back(commit());
        // Once each chain has run a step, every page that a step touches is resident.
        for (Chain& chain : chains) chain.start();
        for (Chain& chain : chains) chain.wait();
        world.barrier();
        if (world.rank() == 0) {
          figures = {resident_mebibytes() - before.resident, heap_mebibytes() - before.heap,
                     std::chrono::duration<double>(std::chrono::steady_clock::now() - begin).count()};
        }
        world.barrier();
      },
      {.time_limit = std::chrono::seconds(300)});
  return figures;
}

void report(const char* what, const Figures& figures) {
  std::printf("%s: %.1f MiB resident, %.1f MiB of heap, beyond the windows; commits and a step took %.1f s\n",
              what, figures.resident, figures.heap, figures.seconds);
  testing::Test::RecordProperty(std::string(what) + ", MiB", std::to_string(figures.resident));
}

class Memory : public testing::Test {
 protected:
  void SetUp() override {
#if defined(__SANITIZE_ADDRESS__) || defined(__SANITIZE_THREAD__)
    GTEST_SKIP() << "a sanitizer's own memory would be measured";
#endif
  }
};

TEST_F(Memory, AThousandChainsOnEachOf64Ranks) {
  const Figures figures = measure(1000, [](int put) { return put < puts / 2 ? 1 : -1; });
  report("two neighbours", figures);
  EXPECT_LT(figures.resident, 64);
}

// A chain has separate signals for each of its partners.
TEST_F(Memory, EightPartnersEach) {
  const Figures figures = measure(250, [](int put) { return put + 1; });
  report("eight partners", figures);
  EXPECT_LT(figures.resident, 48);
}

}  // namespace
}  // namespace tca::test
