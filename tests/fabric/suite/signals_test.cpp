// Tests signals without bytes, immediate puts, and patterns built on chains, over every fabric.
#include <array>
#include <cmath>

#include "halo_check.hpp"
#include "suite.hpp"

namespace tca::test {
namespace {

// What a rank stored before its signal is visible once the signal has arrived. The chain's own put shows that
// here.
TEST_P(FabricTest, BareSignals) {
  run(4, [&](World& world) {
    const int me = world.rank(), next = (me + 1) % 4, last = (me + 3) % 4;
    Chain ring = world.chain("signals only");
    ring.signal(next).expect(last).commit();
    for (int step = 0; step < steps(500); ++step) {
      ring.start();
      ring.wait();
    }
    Chain mixed = world.chain("a put and a signal");
    const Window<int> window = world.window<int>(8);
    mixed.put(window.on(next).at(4), window.at(0), block(4)).signal(last).expect(last).expect(next).commit();
    for (int step = 1; step <= steps(100); ++step) {
      fill(window, 0, 4, step * 10 + me);
      mixed.start();
      mixed.wait();
      require(element(window, 7) == step * 10 + last, "step {}: {}", step, element(window, 7));
    }
  });
}

// The value is read when `put` is called, and is visible to the target with the next signal.
TEST_P(FabricTest, ImmediatePuts) {
  struct Line {
    std::array<std::int64_t, 8> values;
  };
  static_assert(sizeof(Line) == max_immediate_bytes);
  run(3, [&](World& world) {
    const int me = world.rank(), next = (me + 1) % 3, last = (me + 2) % 3;
    // Two places alternate, since nothing guards an immediate put.
    const Window<Line> lines = world.window<Line>(2);
    const Window<char> letters = world.window<char>(3);
    Chain signal = world.chain("tells");
    signal.signal(next).signal(last).expect(last).expect(next).commit();
    for (int step = 1; step <= steps(500); ++step) {
      const int place = step % 2;
      Line line;
      line.values.fill(-1);
      lines.on(next).at(place).put(line);
      line.values.fill(step * 10 + me);
      lines.on(next).at(place).put(line);
      line.values.fill(-2);
      letters.on(next).at(place).put(static_cast<char>('a' + step % 20));
      signal.start();
      signal.wait();
      for (const std::int64_t have : element(lines, place).values) {
        require(have == step * 10 + last, "step {}: {} of rank {}", step, have, last);
      }
      // The other place is not checked: a partner that is a step ahead already writes there.
      const char letter = element(letters, place);
      require(letter == 'a' + step % 20, "step {}: the letter is {}", step, letter);
      require(element(letters, 2) == 0, "a byte next to the letters was written");
    }
  });
}

TEST_P(FabricTest, AllReduceGivesEveryRankTheSameBits) {
  run(4, [&](World& world) {
    AllReduce<double> sum(world, "sum", 3);
    AllReduce<int> largest(world, "largest", 1, [](int a, int b) { return std::max(a, b); });
    for (int step = 1; step <= steps(300); ++step) {
      std::array<double, 3> values{}, expected{};
      for (int rank = 0; rank < 4; ++rank) {
        for (std::size_t i = 0; i < 3; ++i) {
          const double term = 1.0 / (step + 7 * rank + static_cast<int>(i));
          expected[i] = rank == 0 ? term : expected[i] + term;
          if (rank == world.rank()) values[i] = term;
        }
      }
      sum.reduce_in_place(values);
      for (const auto& theirs : world.all_gather(values))
        require(values == theirs, "step {}: {} is not {} to the bit", step, values[0], theirs[0]);
      // The order of the additions is the algorithm's choice.
      for (std::size_t i = 0; i < 3; ++i) {
        require(std::abs(values[i] - expected[i]) < 1e-15 * expected[i], "step {}: {} is not {}", step,
                values[i], expected[i]);
      }
      require(largest.reduce(world.rank() == step % 4 ? step : -1) == step, "step {}: not the largest", step);
    }
  });
}

TEST_P(FabricTest, HaloInOneDimension) {
  run(3, [&](World& world) {
    check_halo<std::int32_t>(
        world, {.shape = {3}, .periodic = {true}, .extents = {10}, .width = {{2, 1}}, .steps = 3});
  });
}

TEST_P(FabricTest, HaloWithCorners) {
  run(4, [&](World& world) {
    check_halo<double>(world, {.shape = {2, 2},
                               .periodic = {true, false},
                               .extents = {9, 7},
                               .width = {{1, 2}, {2, 1}},
                               .corners = true,
                               .steps = steps(40)});
  });
}

TEST_P(FabricTest, HaloOfSeveralFieldsOverEveryRoute) {
  for (const std::string& channel : channels()) {
    run(4, [&](World& world) {
      check_halo<float>(world, {.shape = {2, 1, 2},
                                .periodic = {true, true, false},
                                .extents = {5, 4, 6},
                                .steps = 4,
                                .fields = 3,
                                .channel = channel});
    });
  }
}

}  // namespace
}  // namespace tca::test
