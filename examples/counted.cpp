// Counted puts: every rank passes numbers on to its right neighbour, and says before each step how many. Runs
// with any number of ranks; alone, a rank is its own neighbour.
//
//   tca run -n 3 -- ./counted
#include <algorithm>
#include <cstdio>
#include <cstdlib>
#include <numeric>
#include <span>
#include <vector>

#include "tca/tca.hpp"

static constexpr std::size_t room = 100;

static void check(bool right, const char* what) {
  if (right) return;
  std::printf("wrong: %s\n", what);
  std::exit(1);
}

// The numbers that a rank has: every rank other ones, and another number of them.
static std::vector<int> numbers_of(int rank) {
  std::vector<int> numbers(120 * rank + 50);
  std::iota(numbers.begin(), numbers.end(), 10000 * rank);
  return numbers;
}

int main() try {
  auto world = tca::World::init();
  const int me = world.rank(), size = world.size();
  const int right = (me + 1) % size, left = (me + size - 1) % size;
  auto out = world.window<int>(room), in = world.window<int>(room);

  auto chain = world.chain("pass on");
  tca::CountedPut sent = chain.put_counted(in.on(right), out.at(0), tca::block(room));
  tca::CountedArrival come = chain.expect_counted(left);  // one for each counted put of that rank
  chain.commit();

  for (int step = 0; step < 5; ++step) {
    const int count = 7 * step + me;  // 0 is a length like any other
    std::fill_n(out.begin(), count, 100 * step + me);
    sent.set(count);  // 0 to 100 elements; it stays until it is set again
    chain.run();
    for (const int number : in.elements().first(come.count()))
      check(number == 100 * step + left, "a number of one step");
    check(come.count() == 7 * step + left, "the count of one step");
  }

  // What may be more than fits goes in rounds of the same chain, until no rank has any left.
  const std::vector<int> mine = numbers_of(me);
  std::span<const int> rest = mine;
  std::vector<int> got;
  tca::Rounds rounds(world, chain);
  const int took = rounds.run(
      [&] {  // before each start
        const std::size_t count = std::min(rest.size(), room);
        std::copy_n(rest.begin(), count, out.begin());
        sent.set(count);
        rest = rest.subspan(count);
        return !rest.empty();  // whether this rank needs a further round
      },
      [&] { got.insert(got.end(), in.begin(), in.begin() + come.count()); });  // after each wait
  check(got == numbers_of(left), "the numbers of all rounds");
  if (me == 0) std::printf("all numbers have come, in %d rounds\n", took);
} catch (const tca::Error& error) {
  std::fprintf(stderr, "%s\n", error.what());
  return error.exit_code();
}
