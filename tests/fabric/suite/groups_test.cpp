// Groups: some ranks of a world as a world of their own.
#include "messages.hpp"
#include "suite.hpp"

namespace tca::test {
namespace {

// Sends this rank's number in `names` around the group, and checks it, step after step.
void go_round(World& group, const std::vector<int>& names, const Window<int>& window,
              const std::string& channel, int steps) {
  const int me = group.rank(), size = group.size();
  const int next = (me + 1) % size, before = (me + size - 1) % size;
  Chain chain = group.chain("round", {.channel = channel});
  chain.put(window.on(next).at(1), window.at(0), block(1)).expect(before).commit();
  for (int step = 0; step < steps; ++step) {
    fill(window, 0, 1, 1000 * names[static_cast<std::size_t>(me)] + step);
    chain.start();
    chain.wait();
    const int expected = 1000 * names[static_cast<std::size_t>(before)] + step;
    require(element(window, 1) == expected, "{} instead of {}", element(window, 1), expected);
  }
}

TEST_P(FabricTest, GroupsOfRowsAndColumns) {
  const int steps = 12 / GetParam().effort + 1;
  for (const std::string& channel : GetParam().channels) {
    if (channel.ends_with("rma")) continue;  // is not in groups
    const auto body = [&](World& world) {
      constexpr int columns = 2;
      const int row = world.rank() / columns, column = world.rank() % columns;
      World of_row = world.split(row), of_column = world.split(10 + column, -row);  // from the last row on
      require(of_row.size() == columns && of_row.rank() == column, "rank {} of {}", of_row.rank(),
              of_row.size());
      require(of_column.size() == 2 && of_column.rank() == 1 - row, "rank {} of {}", of_column.rank(),
              of_column.size());
      const Window<int> everybodys = world.window<int>(2), in_row = of_row.window<int>(2),
                        in_column = of_column.view(everybodys);
      go_round(of_row, {row * columns, row * columns + 1}, in_row, channel, steps);
      go_round(of_column, {column + columns, column}, in_column, channel, steps);
      std::vector<int> all(4);
      for (int rank = 0; rank < 4; ++rank) all[static_cast<std::size_t>(rank)] = rank;
      go_round(world, all, everybodys, channel, steps);
    };
    run(4, body);
  }
}

// Groups overlap, are of one rank, are made of groups, and outlive the world's handle.
TEST_P(FabricTest, GroupsOfGroups) {
  const auto body = [](World& around) {
    World world = std::move(around);
    if (world.rank() == 1) {
      world.barrier();
      around = std::move(world);
      return;
    }
    {
      World outer = world.group({3, 0, 2});
      const Window<int> window = outer.window<int>(2);
      go_round(outer, {3, 0, 2}, window, "", 2);
      if (outer.rank() != 1) {
        World inner = outer.group({0, 2});
        go_round(inner, {3, 2}, inner.view(window), "", 2);
        AllReduce<int> sum(inner, "sum", 1);
        const int all = sum.reduce(inner.rank() + 1);
        require(all == 3, "the sum is {} instead of 3", all);
      } else {
        World alone = outer.group({1});
        go_round(alone, {0}, alone.window<int>(2), "", 2);
      }
    }
    world.barrier();
    around = std::move(world);
  };
  run(4, body);
}

// Two ranks wait for each other in two worlds at once: each owes the other a guard in the one that it does not
// wait in.
TEST_P(FabricTest, AWaitInAGroupMovesWhatIsOwedElsewhere) {
  const auto body = [](World& world) {
    constexpr int elements = 40'000;
    World group = world.group({0, 1});
    const int me = world.rank(), other = 1 - me;
    const Window<int> in_world = world.window<int>(2 * elements), in_group = group.window<int>(2 * elements);
    const auto committed = [&](World& of, const Window<int>& window) {
      Chain chain = of.chain("crosswise");
      chain.put(window.on(other).at(elements), window.at(0), block(elements)).expect(other).commit();
      return chain;
    };
    Chain of_world = committed(world, in_world), of_group = committed(group, in_group);
    for (int step = 1; step <= 3; ++step) {
      fill(in_world, 0, elements, 10 * step + me);
      fill(in_group, 0, elements, 20 * step + me);
      of_world.start();
      of_group.start();
      Chain &first = me == 0 ? of_world : of_group, &second = me == 0 ? of_group : of_world;
      first.wait();
      second.wait();
      require(element(in_world, 2 * elements - 1) == 10 * step + other, "the world's bytes are wrong");
      require(element(in_group, 2 * elements - 1) == 20 * step + other, "the group's bytes are wrong");
    }
  };
  run(2, body);
}

TEST_P(FabricTest, WhatIsNoGroup) {
  const auto body = [](World& world) {
    const auto refused = [&](std::initializer_list<int> ranks, std::string_view words) {
      const Caught error = caught([&] { (void)world.group(ranks); });
      require(error.code == Errc::invalid_argument && says(error.message, {words}), "{}", error.message);
    };
    const int me = world.rank();
    refused({me, 2}, "there is no rank 2 in a world of 2");
    refused({me, me}, fmt::format("rank {} is named twice", me));
    refused({1 - me}, "is none of them");
    refused({}, "is none of them");
    World group = world.group({1, 0});
    const Window<int> window = group.window<int>(1);
    const Caught error = caught([&] { (void)world.view(window); });
    require(error.code == Errc::invalid_argument && says(error.message, {"of another world"}), "{}",
            error.message);
    World alone = world.group({me});
    const Window<int> mine = alone.window<int>(1);
    const Caught too_large = caught([&] { (void)group.view(mine); });
    require(too_large.code == Errc::invalid_argument && says(too_large.message, {"has no part"}), "{}",
            too_large.message);
  };
  run(2, body);
}

}  // namespace
}  // namespace tca::test
