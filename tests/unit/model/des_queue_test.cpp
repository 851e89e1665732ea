// Compares the wheel with the heap, and checks the order of events.
#include <gtest/gtest.h>

#include <algorithm>

#include "model/des/heap.hpp"
#include "model/des/wheel.hpp"
#include "seed.hpp"

namespace tca::test {
namespace {

using des::Event;
using des::Heap;
using des::Time;
using des::Wheel;

bool same(const Event& a, const Event& b) {
  return a.time == b.time && a.object == b.object && a.sequence == b.sequence;
}

// Returns how far ahead a random event lies: in the open bucket, on the wheel, or far beyond a turn of it.
Time random_delay(std::mt19937& random) {
  switch (random_in(random, 0, 3)) {
    case 0:
      return 0;
    case 1:
      return random_in(random, 0, 200);
    case 2:
      return random_in(random, 0, 1'000'000);
    default:
      return Time{random_in(random, 0, 4'000'000)} * 1000;
  }
}

class Queues : public testing::TestWithParam<std::pair<unsigned, unsigned>> {
 protected:
  Seed seed;
  std::mt19937 random{seed.value()};
  Wheel wheel{GetParam().first, GetParam().second};
  Heap heap;
  Time now = 0;
  std::uint32_t count = 0;

  void push() {
    const Event event{now + random_delay(random), random_in(random, 0, 5), count++};
    wheel.push(event);
    heap.push(event);
  }

  // Takes an event from both queues. Returns whether both gave the same event, or both none.
  bool pop(Time until, bool& any) {
    Event a{}, b{};
    any = wheel.pop(until, a);
    if (any != heap.pop(until, b)) return false;
    if (any) now = a.time;
    return !any || same(a, b);
  }
};

TEST_P(Queues, HandOutRandomSchedulesInTheSameOrder) {
  for (int round = 0; round < 200; ++round) {
    const std::uint32_t pushes = random_in(random, 0, 300);
    for (std::uint32_t i = 0; i < pushes; ++i) push();
    const std::uint32_t pops = random_in(random, 0, 320);
    bool any = true;
    for (std::uint32_t i = 0; i < pops && any; ++i) {
      ASSERT_TRUE(pop(des::never, any)) << seed.how_to_repeat();
      if (any && random_in(random, 0, 1) == 0) push();
    }
    ASSERT_EQ(wheel.size(), heap.size()) << seed.how_to_repeat();
  }
}

// A run that stops at a given time goes on later. Events pushed in between may lie before the last one that
// the wheel has seen.
TEST_P(Queues, StopAtATime) {
  for (int round = 0; round < 500; ++round) {
    for (int i = 0; i < 20; ++i) push();
    const Time until = now + random_delay(random);
    for (bool any = true; any;) ASSERT_TRUE(pop(until, any)) << seed.how_to_repeat();
    now = std::max(now, until);
  }
}

INSTANTIATE_TEST_SUITE_P(Wheels, Queues,
                         testing::Values(std::pair{6u, 14u}, std::pair{0u, 12u}, std::pair{12u, 12u},
                                         std::pair{4u, 18u}));

TEST(Events, OfOneTimeComeByObjectAndThenBySequence) {
  const Event in_order[]{{5, 1, 9}, {5, 2, 0}, {5, 2, 1}, {5, 7, 0}, {6, 0, 0}};
  for (int rotation = 0; rotation < 5; ++rotation) {
    Wheel wheel;
    for (int i = 0; i < 5; ++i) wheel.push(in_order[(i * 2 + rotation) % 5]);
    for (const Event& expected : in_order) {
      Event event{};
      ASSERT_TRUE(wheel.pop(des::never, event));
      EXPECT_TRUE(same(event, expected));
    }
  }
}

}  // namespace
}  // namespace tca::test
