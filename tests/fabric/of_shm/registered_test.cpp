// Tests windows made of memory that the program has already allocated.
#include <array>

#include "messages.hpp"
#include "ranks.hpp"

namespace tca::test {
namespace {

TEST(RegisteredWindows, CarryPutsOverEveryRoute) {
  const Backend threads = thread_backend();
  for (const std::string& channel : threads.channels) {
    const auto body = [&](World& world) {
      constexpr std::int64_t count = 1000;
      const int other = 1 - world.rank();
      std::vector<int> held(3 * count, -1);  // the window is its middle and its end
      const Window<int> window = world.window(held.data() + count, 2 * count);
      require(window.data() == held.data() + count, "the window is elsewhere");
      Chain chain = world.chain("registered", {.guarded = true, .time_limit = {}, .channel = channel});
      chain.put(window.on(other).at(count), window.at(0), stride(count / 2, 2)).expect(other).commit();
      for (int step = 1; step <= 3; ++step) {
        std::fill_n(held.begin() + count, count, 10 * step + world.rank());
        chain.start();
        chain.wait();
        std::vector<int> expected(3 * count, -1);
        std::fill_n(expected.begin() + count, count, 10 * step + world.rank());
        for (std::size_t i = 0; i < count; i += 2) expected[2 * count + i] = 10 * step + other;
        require(held == expected, "step {}: not what was sent, or not where", step);
      }
      world.barrier();  // the partner may still write into the memory that this rank is about to free
    };
    EXPECT_EQ(threads.make()->run(2, body), "") << channel;
  }
}

// Every rank gets the error, also the one that asks the library for memory.
TEST(RegisteredWindows, AreRefusedBetweenProcesses) {
  EXPECT_EQ(
      process_ranks()->run(3,
                           [](World& world) {
                             std::array<int, 4> mine{};
                             const Caught error = caught([&] {
                               if (world.rank() == 1) {
                                 static_cast<void>(world.window<int>(4));
                               } else {
                                 static_cast<void>(world.window(mine.data(), 4));
                               }
                             });
                             require(error.code == Errc::invalid_argument, "{}", error.message);
                             for (const char* part : {"window 0", "already has", "world.window<T>(elements)"})
                               require(error.message.find(part) != std::string::npos, "{}", error.message);
                             require(world.window<int>(4).size() == 4, "the next window fails");
                           }),
      "");
}

TEST(RegisteredWindows, OfAProcessAlone) {
  std::vector<int> mine(4, 3);
  World world = World::init({.fabric = "shm"});
  EXPECT_EQ(world.window(mine.data(), 4).data(), mine.data());
}

}  // namespace
}  // namespace tca::test
