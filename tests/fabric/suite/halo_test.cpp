// Halos and folds on random grids, on groups, and of parts without cells.
#include <random>

#include "fold_check.hpp"
#include "messages.hpp"
#include "suite.hpp"

namespace tca::test {
namespace {

// Returns a seed that is the same on all ranks, which may be processes of their own.
unsigned common_seed(World& world) {
  const auto asked = static_cast<unsigned>(GTEST_FLAG_GET(random_seed));
  return world.all_gather(asked != 0 ? asked : std::random_device{}() % 99999 + 1)[0];
}

// Runs a check of random halos, of which a failure prints the seed.
template <class Check>
void on_random_halos(World& world, int count, const std::vector<std::string>& channels, const Check& check) {
  const unsigned seed = common_seed(world);
  for (int i = 0; i < count; ++i) {
    const unsigned own = seed + 1000 * static_cast<unsigned>(i);
    const HaloCase test =
        random_halo(own, world.size(), channels[static_cast<std::size_t>(i) % channels.size()]);
    try {
      check(test, own);
    } catch (const std::exception& error) {
      throw Mismatch(
          fmt::format("{}\nin {}; repeat with --gtest_random_seed={}", error.what(), describe(test), seed));
    }
  }
}

TEST_P(FabricTest, RandomHalos) {
  for (const int ranks : {1, 3, 4}) {
    run(ranks, [&](World& world) {
      on_random_halos(world, steps(12), channels(),
                      [&](const HaloCase& test, unsigned) { check_halo<float>(world, test); });
    });
  }
}

TEST_P(FabricTest, RandomFolds) {
  for (const int ranks : {1, 3, 4}) {
    run(ranks, [&](World& world) {
      on_random_halos(world, steps(12), channels(), [&](const HaloCase& test, unsigned seed) {
        const auto op = static_cast<ReduceOp>(seed / 7 % 4);
        check_fold<double>(world, test, op, seed);
        check_fold<std::int32_t>(world, test, op, seed);
      });
    });
  }
}

constexpr std::int64_t side = 6;  // of a square of cells, periodic

// Returns the cells of a square, dealt out over the world, after some particles have each left a share in the
// four cells around them, of which this rank deposits those that lie in its part.
template <class T>
std::vector<T> deposited(World& world, std::vector<int> shape, T unit) {
  const Grid grid(world.size(), std::move(shape), {true, true});
  const Range rows = grid.part(world.rank(), 0, side), columns = grid.part(world.rank(), 1, side);
  const Halo halo(world, "square", grid, {rows.size, columns.size},
                  {.width = {{0, 1}, {0, 1}}, .corners = true});
  const Window<T> field = world.window<T>(halo.elements());
  Fold fold(world, "shares", halo);
  fold.add(field).commit();
  std::vector<T> local(static_cast<std::size_t>(halo.elements()));
  std::mt19937 random(7);
  for (int particle = 0; particle < 200; ++particle) {
    const auto row = static_cast<std::int64_t>(random() % side) - rows.begin,
               column = static_cast<std::int64_t>(random() % side) - columns.begin;
    const auto share = static_cast<int>(random() % 1000);
    if (row < 0 || row >= rows.size || column < 0 || column >= columns.size) continue;
    for (std::int64_t corner = 0; corner < 4; ++corner) {
      const std::int64_t at = halo.index(std::array{row + corner / 2, column + corner % 2});
      local[static_cast<std::size_t>(at)] += unit * static_cast<T>((corner + 1) * share);
    }
  }
  field.write(0, local);
  fold.run();
  field.read(0, local);
  std::array<T, side * side> mine{};
  for (std::int64_t row = 0; row < rows.size; ++row)
    for (std::int64_t column = 0; column < columns.size; ++column)
      mine[static_cast<std::size_t>((rows.begin + row) * side + columns.begin + column)] =
          local[static_cast<std::size_t>(halo.index(std::array{row, column}))];
  std::vector<T> whole(side * side);
  for (const auto& part : world.all_gather(mine))
    for (std::size_t i = 0; i < whole.size(); ++i) whole[i] += part[i];
  return whole;
}

// Where no sum is rounded, the number of ranks and their grid change no bit.
TEST_P(FabricTest, FoldsAreTheSameOnAnyGrid) {
  run(4, [](World& world) {
    World alone = world.group({world.rank()}), half = world.split(world.rank() % 2);
    const auto integers = deposited<std::int64_t>(alone, {1, 1}, 1);
    require(integers == deposited<std::int64_t>(half, {2, 1}, 1), "two ranks have other integers than one");
    require(integers == deposited<std::int64_t>(world, {2, 2}, 1), "four ranks have other integers than one");
    const auto fractions = deposited(alone, {1, 1}, 1.0 / 1024);
    require(fractions == deposited(half, {1, 2}, 1.0 / 1024), "two ranks have other fractions than one");
    require(fractions == deposited(world, {1, 4}, 1.0 / 1024), "four ranks have other fractions than one");
  });
}

// Each half of the world has a grid of its own, over the same array.
TEST_P(FabricTest, HalosOfReplicas) {
  run(4, [](World& world) {
    World half = world.split(world.rank() % 2);
    const HaloCase test{.shape = {2, 1}, .periodic = {true, false}, .extents = {5, 4}, .corners = true};
    check_halo<double>(half, test);
    check_fold<double>(half, test, ReduceOp::sum, 1);
  });
}

// Faces with four loops and more are several puts.
TEST_P(FabricTest, HalosOfSixDimensions) {
  run(4, [](World& world) {
    const HaloCase test{.shape = {2, 1, 1, 1, 2, 1},
                        .periodic = {true, false, true, false, false, true},
                        .extents = {4, 2, 2, 3, 4, 2},
                        .width = {{1, 1}, {0, 1}, {1, 0}, {1, 1}, {1, 2}, {1, 0}},
                        .steps = 2};
    check_halo<std::int32_t>(world, test);
    check_fold<std::int64_t>(world, test, ReduceOp::sum, 1);
  });
}

TEST_P(FabricTest, FoldsThatRanksDisagreeAbout) {
  run(2, [](World& world) {
    const Halo halo(world, "u", Grid(2, {2}), {4});
    const Window<int> u = world.window<int>(halo.elements(), "u");
    const auto refused = [&](Fold& fold, Errc code, std::initializer_list<std::string_view> words) {
      const Caught error = caught([&] { fold.commit(); });
      require(error.code == code && says(error.message, words), "{}", error.message);
    };
    Fold nothing(world, "back", halo);
    refused(nothing, Errc::refused, {"fold 'back' has no field"});
    Fold other(world, "back", halo);
    other.add(u, 0, world.rank() == 0 ? ReduceOp::sum : ReduceOp::max);
    refused(other, Errc::refused,
            {"fold 'back': rank 0 has added window 'u' for the sum of int32; rank 1 has added window 'u' for "
             "the max of int32"});
  });
}

}  // namespace
}  // namespace tca::test
