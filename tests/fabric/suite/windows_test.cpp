// Tests windows on every fabric: they begin zeroed, and the host can read and write them.
#include <algorithm>
#include <numeric>

#include "messages.hpp"
#include "suite.hpp"

namespace tca::test {
namespace {

TEST_P(FabricTest, WindowsBeginZeroed) {
  run(3, [](World& world) {
    for (const std::int64_t count : {1, 100, 3'000'000}) {
      const Window<std::uint8_t> window = world.window<std::uint8_t>(count * world.rank());
      for (const std::uint8_t value : contents(window)) require(value == 0, "{} where 0 belongs", value);
    }
  });
}

// As elements of up to 64 bytes may need it.
TEST_P(FabricTest, WindowsBeginAtACacheLine) {
  run(2, [](World& world) {
    for (const std::int64_t count : {3, 100, 100'000}) {
      const Window<std::uint8_t> window = world.window<std::uint8_t>(count + world.rank());
      const auto rest = reinterpret_cast<std::uintptr_t>(window.data()) % 64;
      require(rest == 0, "{} bytes begin {} bytes after a line", count, rest);
    }
  });
}

// The memory of windows that are gone is used again, in whole or in part.
TEST_P(FabricTest, WindowsInMemoryThatWasUsedBeginZeroed) {
  run(2, [](World& world) {
    for (int round = 0; round < 12; ++round) {
      std::vector<Window<std::uint8_t>> windows;
      for (const std::int64_t count : {8000 - 500 * round, 64, 100 * round, 65'536, 3})
        windows.push_back(world.window<std::uint8_t>(count));
      for (const Window<std::uint8_t>& window : windows) {
        for (const std::uint8_t value : contents(window))
          require(value == 0, "round {}: {} is left", round, value);
        fill(window, 0, static_cast<std::int64_t>(window.size()), 0xA5);
      }
      for (const Window<std::uint8_t>& window : windows)
        for (const std::uint8_t value : contents(window)) require(value == 0xA5, "two windows overlap");
    }
  });
}

// Reads and writes parts of a window at odd offsets, from the whole window down to none of it.
TEST_P(FabricTest, WhatIsWrittenIsRead) {
  run(2, [](World& world) {
    constexpr std::int64_t count = 100'003;
    const Window<std::uint16_t> window = world.window<std::uint16_t>(count);
    std::vector<std::uint16_t> mirror(count);
    for (const auto& [first, length] : {std::pair<std::int64_t, std::int64_t>{0, count},
                                        {7, 1},
                                        {1, 5000},
                                        {99'999, 4},
                                        {count, 0},
                                        {50'001, 50'002},
                                        {3, 3}}) {
      std::vector<std::uint16_t> part(static_cast<std::size_t>(length));
      std::iota(part.begin(), part.end(), static_cast<std::uint16_t>(first * 3 + world.rank()));
      window.write(first, part);
      std::copy(part.begin(), part.end(), mirror.begin() + first);
      std::fill(part.begin(), part.end(), std::uint16_t{0xABCD});
      window.read(first, part);
      require(std::equal(part.begin(), part.end(), mirror.begin() + first), "{} elements at {} differ",
              length, first);
      require(contents(window) == mirror, "writing {} elements at {} changed others", length, first);
    }
  });
}

// Rank 2 holds no memory for the chain of ranks 0 and 1. All three have destroyed it when they make the next
// window.
TEST_P(FabricTest, AWindowAfterAChainOfSomeRanks) {
  run(3, [](World& world) {
    const Window<int> window = world.window<int>(2);
    for (int round = 1; round <= 3; ++round) {
      {
        Chain chain = world.chain("of two");
        if (world.rank() == 0) chain.put(window.on(1).at(0), window.at(1), block(1));
        if (world.rank() == 1) chain.expect(0);
        chain.commit();
        fill(window, 1, 1, round);
        chain.start();
        chain.wait();
      }
      require(world.rank() != 1 || element(window, 0) == round, "{} came", element(window, 0));
      const Window<int> next = world.window<int>(round);
      require(contents(next) == std::vector<int>(static_cast<std::size_t>(round)),
              "it does not begin zeroed");
    }
  });
}

// The host touches the elements of such windows in place, and puts go between both kinds of window, to other ranks and
// to the same.
TEST_P(FabricTest, HostWindows) {
  for (const std::string& channel : channels()) {
    SCOPED_TRACE("channel " + channel);
    run(3, [&](World& world) {
      constexpr std::int64_t count = 3000;
      const int me = world.rank(), size = world.size(), left = (me + size - 1) % size;
      const Window<int> on_host[] = {world.host_window<int>(count, "sent"),
                                     world.host_window<int>(count, "come")};
      const Window<int> usual[] = {world.window<int>(count), world.window<int>(count)};
      for (const Window<int>& window : on_host)
        for (const int value : window) require(value == 0, "{} where 0 belongs", value);
      world.barrier();
      for (const bool to_host : {false, true}) {
        for (const bool from_host : {false, true}) {
          const Window<int>& source = (from_host ? on_host : usual)[0];
          const Window<int>& target = (to_host ? on_host : usual)[1];
          Chain chain = world.chain("both kinds", {.channel = channel});
          chain.put(target.on((me + 1) % size), source.at(0), block(count - 1));
          chain.put(target.on(me).at(count - 1), source.at(count - 1), block(1));
          chain.expect(left).expect(me).commit();
          for (int step = 1; step <= steps(10); ++step) {
            const auto value = [&](int rank, std::int64_t i) {
              return static_cast<int>((rank * 100 + step) * 4096 + i);
            };
            std::vector<int> values(count);
            for (std::int64_t i = 0; i < count; ++i) values[static_cast<std::size_t>(i)] = value(me, i);
            if (from_host)
              std::ranges::copy(values, source.begin());
            else
              source.write(0, values);
            chain.run();
            const std::vector<int> copied = contents(target);
            const std::span<const int> have = to_host ? std::span<const int>(target.elements()) : copied;
            for (std::int64_t i = 0; i < count; ++i) {
              const int expected = value(i < count - 1 ? left : me, i);
              require(have[static_cast<std::size_t>(i)] == expected, "step {}: element {} is {}, not {}",
                      step, i, have[static_cast<std::size_t>(i)], expected);
            }
          }
        }
      }
    });
  }
}

TEST_P(FabricTest, HostWindowsAreMadeByAll) {
  run(2, [](World& world) {
    const Caught error = caught([&] {
      if (world.rank() == 0)
        static_cast<void>(world.host_window<int>(1, "flags"));
      else
        static_cast<void>(world.window<int>(1, "flags"));
    });
    require(error.code == Errc::refused &&
                says(error.message,
                     {"rank 0 makes window 'flags' by host_window, rank 1 window 'flags' by window"}),
            "{}", error.message);
  });
}

}  // namespace
}  // namespace tca::test
