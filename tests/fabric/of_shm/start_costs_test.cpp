// Checks that `start` neither allocates nor takes a lock. This program counts every call that could do
// either.
#include <dlfcn.h>
#include <gtest/gtest.h>
#include <pthread.h>

#include <cstdlib>
#include <mutex>
#include <thread>

#include "ranks.hpp"

#if defined(__SANITIZE_ADDRESS__) || defined(__SANITIZE_THREAD__)
#define OPENTCA_COUNTS 0
#else
#define OPENTCA_COUNTS 1
#endif

namespace {

struct Counts {
  bool on = false;
  long allocations = 0;
  long locks = 0;
};
thread_local Counts counts;

}  // namespace

#if OPENTCA_COUNTS
extern "C" {
void* __libc_malloc(std::size_t);
void* __libc_calloc(std::size_t, std::size_t);
void* __libc_realloc(void*, std::size_t);
void* __libc_memalign(std::size_t, std::size_t);

// Replaces the C library's function, and so also covers operator new, which ends in malloc.
void* malloc(std::size_t bytes) noexcept {
  counts.allocations += counts.on;
  return __libc_malloc(bytes);
}
void* calloc(std::size_t count, std::size_t bytes) noexcept {
  counts.allocations += counts.on;
  return __libc_calloc(count, bytes);
}
void* realloc(void* old, std::size_t bytes) noexcept {
  counts.allocations += counts.on;
  return __libc_realloc(old, bytes);
}
void* aligned_alloc(std::size_t alignment, std::size_t bytes) noexcept {
  counts.allocations += counts.on;
  return __libc_memalign(alignment, bytes);
}
int pthread_mutex_lock(pthread_mutex_t* mutex) noexcept {
  using Lock = int (*)(pthread_mutex_t*);
  static const auto next = reinterpret_cast<Lock>(dlsym(RTLD_NEXT, "pthread_mutex_lock"));
  counts.locks += counts.on;
  return next(mutex);
}
}
#endif

namespace tca::test {
namespace {

class StartCosts : public testing::TestWithParam<std::tuple<std::string, bool>> {
 protected:
  void SetUp() override {
    if (!OPENTCA_COUNTS) GTEST_SKIP() << "a sanitizer has malloc to itself";
  }
};

// Shows that the counters work, so that the zeros of the other tests mean something.
TEST_F(StartCosts, TheCountersCount) {
  std::mutex mutex;
  counts = {.on = true};
  {
    const std::unique_ptr<int> allocated(new int(3));
    const std::lock_guard lock(mutex);
    counts.on = *allocated == 0;
  }
  counts.on = false;
  EXPECT_EQ(counts.allocations, 1);
  EXPECT_EQ(counts.locks, 1);
}

TEST_P(StartCosts, NothingAllocatedAndNoLockTaken) {
  const auto [channel, guarded] = GetParam();
  constexpr int starts = 10'000;
  const std::string problem = thread_ranks()->run(2, [&](World& world) {
    const int other = 1 - world.rank();
    std::vector<Window<double>> windows;
    std::vector<Chain> chains;
    for (int b = 0; b < 2; ++b) {
      windows.push_back(world.window<double>(5200));
      chains.push_back(world.chain("counted", {.guarded = guarded, .time_limit = {}, .channel = channel}));
      chains.back().put(windows.back().on(other).at(2600), windows.back().at(0), stride(10, 3));
      chains.back().put(windows.back().on(other).at(2700), windows.back().at(40), block(2400));
      chains.back().expect(other).commit();
    }
    counts = {};
    for (int step = 0; step < starts; ++step) {
      Chain& chain = chains[static_cast<std::size_t>(step % 2)];
      counts.on = true;
      chain.start();
      counts.on = false;
      chain.wait();
    }
    require(counts.allocations == 0, "{} allocations in {} starts", counts.allocations, starts);
    require(counts.locks == 0, "{} locks in {} starts", counts.locks, starts);
  });
  EXPECT_EQ(problem, "");
}

INSTANTIATE_TEST_SUITE_P(Routes, StartCosts,
                         testing::Combine(testing::Values("", "direct", "pull", "staged"), testing::Bool()));

}  // namespace
}  // namespace tca::test
