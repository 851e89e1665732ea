#include "measure/crowding.hpp"

#include <gtest/gtest.h>
#include <sched.h>

#include <atomic>
#include <chrono>
#include <string>
#include <thread>

namespace tca::bench {
namespace {

using namespace std::chrono_literals;

void stay_on(int processor) {
  cpu_set_t only;
  CPU_ZERO(&only);
  CPU_SET(static_cast<std::size_t>(processor), &only);
  sched_setaffinity(0, sizeof only, &only);
}

TEST(Crowding, TellsOfMoreRanksThanProcessors) {
  EXPECT_EQ(Crowding().in_words(3, 1),
            "3 ranks share 1 processor and mostly wait for their turn; --ranks 1 says more.\n");
}

TEST(Crowding, TellsOfAnotherProgramOnTheProcessor) {
  std::string words;

  std::thread([&words] {
    const int processor = sched_getcpu();
    stay_on(processor);
    std::atomic<bool> over = false;
    std::thread other([&over, processor] {
      stay_on(processor);
      while (!over) {
      }
    });
    const Crowding crowding;
    const auto latest = std::chrono::steady_clock::now() + 20s;
    while (words.empty() && std::chrono::steady_clock::now() < latest) {
      for (int i = 0; i < 20; ++i) sched_yield();
      words = crowding.in_words(2, 2);
    }
    over = true;
    other.join();
  }).join();

  EXPECT_NE(words.find("Something else ran on rank 0's processor too, "), std::string::npos) << words;
}

}  // namespace
}  // namespace tca::bench
