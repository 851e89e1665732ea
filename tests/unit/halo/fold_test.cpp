// Tests what folds refuse, and what they promise besides the right values, which the suite for fabrics
// checks.
#include <array>
#include <complex>

#include "base/combine.hpp"
#include "halo/cell_table.hpp"
#include "halo/rows.hpp"
#include "messages.hpp"
#include "tca/tca.hpp"

namespace tca::test {
namespace {

void expect_invalid(const std::function<void()>& call, std::initializer_list<std::string_view> words) {
  const Caught error = caught(call);
  EXPECT_EQ(error.code, Errc::invalid_argument) << error.message;
  EXPECT_TRUE(says(error.message, words)) << error.message;
}

// A ring of two cells a rank with a ghost on each side.
Halo ring(World& world) { return Halo(world, "ring", Grid(world.size(), {0}, {true}), {2}); }

TEST(Fold, RefusesWhatOneRankCanTell) {
  World::run_threads(1, [](World& world) {
    const Halo halo = ring(world);
    const Window<double> u = world.window<double>(6, "u");
    Fold fold(world, "back", halo);
    expect_invalid(
        [&] { fold.add(u, 3); },
        {"fold 'back': a field of 4 elements, ghosts included, does not fit at element 3 of window 'u'"});
    fold.add(u, 1);
    expect_invalid([&] { fold.add(u, 2); },
                   {"fold 'back': fields 0 and 1, of 4 elements from 1 and 2 on, overlap"});
    const auto threes = world.window<std::array<char, 3>>(4, "threes");
    expect_invalid([&] { fold.add(threes.untyped(), DataType::int16); },
                   {"elements of 3 bytes, as in window 'threes', are not made of numbers of 2"});
    expect_invalid([&] { fold.add(threes.untyped(), DataType::other); }, {"are not made of numbers of 0"});
    expect_invalid([&] { fold.start(); }, {"chain 'back'"});
    expect_invalid([&] { static_cast<void>(fold.cells(0)); }, {"back"});
    fold.commit();
    expect_invalid([&] { fold.add(u); }, {"add on fold 'back' after its commit; make a new fold"});
    expect_invalid([&] { fold.commit(); }, {"commit on fold 'back' after its commit"});
    Fold moved = std::move(fold);
    expect_invalid([&] { fold.start(); }, {"fold", "moved from"});  // NOLINT: that is what is tested
    moved.run();
    World group = world.group({0});
    expect_invalid([&] { Fold(group, "other", halo); }, {"fold 'other': halo 'ring' is of another world"});
  });
}

// Both ghosts of a rank that is alone are of its own cells. What has come is added once, however often one
// waits.
TEST(Fold, AddsOnceForEachStart) {
  World::run_threads(1, [](World& world) {
    const Window<std::complex<double>> u = world.window<std::complex<double>>(4);
    Fold fold(world, "back", ring(world));  // which is gone by now
    fold.add(u.untyped(), DataType::float64).commit();
    EXPECT_EQ(fold.bytes(), 2 * 16);
    fold.wait();
    const std::complex<double> i(0, 1);
    for (int step = 1; step <= 2; ++step) {
      const double s = step;
      std::ranges::copy(std::array{1.0 + i, s + 2.0 * i, 3.0 + 0.0 * i, -1.0 + 8.0 * i}, u.data());
      fold.start();
      EXPECT_TRUE(fold.wait_for(std::chrono::seconds(10)));
      EXPECT_TRUE(fold.test());
      fold.wait();
      EXPECT_EQ(u[1], s - 1 + 10.0 * i);
      EXPECT_EQ(u[2], 4.0 + i);
      EXPECT_EQ(u[0], 1.0 + i);
      EXPECT_EQ(u[3], -1.0 + 8.0 * i);
    }
  });
}

// Cells may change until the wait, which adds to what they are then.
TEST(Fold, CellsAreTheProgramsUntilTheWait) {
  World::run_threads(2, [](World& world) {
    const Window<int> u = world.window<int>(4);
    Fold fold(world, "back", ring(world));
    fold.add(u).commit();
    std::ranges::copy(std::array{10, 0, 0, 20}, u.data());
    fold.start();
    u[1] = u[2] = 5;
    fold.wait();
    EXPECT_EQ(u[1], 25);
    EXPECT_EQ(u[2], 15);
  });
}

TEST(Fold, RefusesRanksThatAddOtherFields) {
  for (const Caught& error : caught_by_ranks(2, [](World& world) {
         const auto u = world.window<float>(4, "u"), v = world.window<float>(4, "v");
         Fold fold(world, "back", ring(world));
         fold.add(u);
         if (world.rank() == 1) fold.add(v, 0, ReduceOp::min);
         fold.commit();
       })) {
    EXPECT_EQ(error.code, Errc::refused);
    EXPECT_EQ(error.message,
              "fold 'back': rank 0 has added window 'u' for the sum of float32; rank 1 has added window 'u' "
              "for the sum of float32, window 'v' for the min of float32; every rank adds the same windows "
              "in the same order");
  }
}

// Kernels go by a table of cells, and come to the same bits as the host does face after face.
TEST(Fold, KernelsCombineAsTheHostDoes) {
  const Layout faces[]{subarray({4, 5, 6}, {1, 1, 1}, {2, 3, 1}), subarray({4, 5, 6}, {1, 1, 1}, {1, 3, 4}),
                       subarray({4, 5, 6}, {1, 1, 4}, {2, 3, 1}), subarray({4, 5, 6}, {1, 1, 1}, {1, 1, 1}),
                       subarray({4, 5, 6}, {2, 1, 1}, {1, 3, 4})};
  constexpr std::size_t numbers = 2;  // of an element
  std::vector<double> by_host(4 * 5 * 6 * numbers), staged;
  for (std::size_t i = 0; i < by_host.size(); ++i) by_host[i] = 1.0 / static_cast<double>(i + 3);
  std::vector<double> by_kernel = by_host;
  halo::CellTable table;
  const base::CombineRows combine = base::combine_rows(DataType::float64, ReduceOp::sum);
  for (const Layout& face : faces) {
    const std::size_t first = staged.size(), elements = static_cast<std::size_t>(face.elements());
    for (std::size_t i = 0; i < elements * numbers; ++i)
      staged.push_back(0.1 * static_cast<double>(first + i));
    table.add(face, static_cast<std::int64_t>(first / numbers));
    const double* from = staged.data() + first;
    halo::for_each_rows(face, [&](std::int64_t at, std::int64_t rows, std::int64_t pitch) {
      const auto run = static_cast<std::size_t>(face.run()) * numbers, count = static_cast<std::size_t>(rows);
      combine(by_host.data() + static_cast<std::size_t>(at) * numbers,
              static_cast<std::size_t>(pitch) * numbers, from, count, run);
      from += count * run;
    });
  }
  const std::vector<std::uint64_t> words = table.words();
  DeviceFold view = table.view(words.data());
  EXPECT_EQ(view.count, 24u);  // cells that a face has, each once
  view.into = reinterpret_cast<std::byte*>(by_kernel.data());
  view.from = reinterpret_cast<const std::byte*>(staged.data());
  view.numbers = numbers;
  for (std::uint64_t thread = 0; thread < 7; ++thread) device::fold_cells<double>(view, thread, 7, Sum());
  EXPECT_EQ(by_kernel, by_host);
}

// A counted put has one length.
TEST(Halo, CountsNoFacesOfSeveralPuts) {
  World::run_threads(1, [](World& world) {
    Halo halo(world, "u", Grid(1, {1, 1, 1, 1, 1}, {true, true, true, true, true}), {3, 3, 3, 3, 3});
    const auto u = world.window<int>(2 * halo.elements());
    expect_invalid([&] { halo.add_counted(u); }, {"add_counted: a face of halo 'u' takes several puts"});
    halo.add(u).commit();
    halo.run();
  });
}

}  // namespace
}  // namespace tca::test
