// Checks folds against an oracle: every rank can work out what all of them have deposited, and so what each
// cell must be, to the bit.
#pragma once

#include <algorithm>
#include <array>
#include <cstring>
#include <functional>
#include <map>
#include <tuple>
#include <vector>

#include "halo_check.hpp"

namespace tca::test {

// What a rank has in a cell or a ghost before a step. Sums of such floating-point numbers are rounded.
template <class T>
T fold_value(unsigned seed, int rank, std::size_t cell, int step) {
  std::uint64_t bits =
      seed + 0x9e3779b97f4a7c15u * (static_cast<std::uint64_t>(rank) * 1'000'003 + cell * 17 +
                                    static_cast<std::uint64_t>(step) * 77'777 + 1);
  bits = (bits ^ bits >> 29) * 0xbf58476d1ce4e5b9u;
  const auto number = static_cast<int>(bits >> 40 & 0x3ff) - 500;
  if constexpr (std::is_floating_point_v<T>)
    return static_cast<T>(number) / T{7};
  else
    return static_cast<T>(number);
}

template <class T>
T combined(ReduceOp op, T a, T b) {
  switch (op) {
    case ReduceOp::sum:
      return Sum()(a, b);
    case ReduceOp::min:
      return Min()(a, b);
    case ReduceOp::max:
      return Max()(a, b);
    case ReduceOp::product:
      break;
  }
  return Product()(a, b);
}

// What ghosts of a cell hold, by the rank that has them, and by where it lies as the owner sees it.
using OthersShares = std::vector<std::tuple<int, Grid::Coordinates, std::size_t>>;
// By the number of the cell in the whole array.
std::map<std::int64_t, OthersShares> fold_shares(const Grid& grid, const HaloCase& test);

// Folds a field of T, and one whose elements are two of them. `run` takes the place of a start and a wait.
// Collective. Throws Mismatch when a cell or a ghost is wrong after any step.
template <class T>
void check_fold(World& world, const HaloCase& test, ReduceOp op, unsigned seed,
                const std::function<void(Fold&)>& run = {}) {
  const Grid grid = halo_grid(world.size(), test);
  const int me = world.rank();
  const std::vector<HaloCell> cells = halo_cells(grid, me, test);
  const Halo halo(world, "halo", grid, halo_interior(grid, me, test),
                  {.width = halo_width(me, test), .exchange = test.exchange, .corners = test.corners});
  Fold fold(world, "fold", halo, {.channel = test.channel});
  const Window<T> field = world.window<T>(cells.size() + 3);
  const Window<std::array<T, 2>> pairs = world.window<std::array<T, 2>>(cells.size());
  fold.add(field, 3, op).add(pairs.untyped(), data_type_of<T>(), 0, ReduceOp::sum);
  fold.commit();
  const auto shares = fold_shares(grid, test);

  for (int step = 1; step <= test.steps; ++step) {
    std::vector<T> mine;
    std::vector<std::array<T, 2>> my_pairs;
    for (std::size_t i = 0; i < cells.size(); ++i) {
      mine.push_back(fold_value<T>(seed, me, i, step));
      my_pairs.push_back({mine.back(), fold_value<T>(seed + 1, me, i, step)});
    }
    field.write(3, mine);
    pairs.write(0, my_pairs);
    if (run) {
      run(fold);
    } else {
      fold.start();
      if (step == 2)
        while (!fold.test()) world.progress();
      fold.wait();
    }
    std::vector<T> held(cells.size());
    std::vector<std::array<T, 2>> held_pairs(cells.size());
    field.read(3, held);
    pairs.read(0, held_pairs);
    for (std::size_t i = 0; i < cells.size(); ++i) {
      T want = mine[i];
      std::array<T, 2> want_pair = my_pairs[i];
      const auto others = shares.find(cells[i].global);
      if (cells[i].interior && others != shares.end()) {
        for (const auto& [rank, side, cell] : others->second) {
          const T theirs = fold_value<T>(seed, rank, cell, step);
          want = combined(op, want, theirs);
          want_pair[0] = Sum()(want_pair[0], theirs);
          want_pair[1] = Sum()(want_pair[1], fold_value<T>(seed + 1, rank, cell, step));
        }
      }
      require(std::memcmp(&held[i], &want, sizeof want) == 0, "step {}: cell {}, global {}, is {}, not {}",
              step, i, cells[i].global, held[i], want);
      require(held_pairs[i] == want_pair, "step {}: pair {}, global {}, is {} and {}, not {} and {}", step, i,
              cells[i].global, held_pairs[i][0], held_pairs[i][1], want_pair[0], want_pair[1]);
    }
  }
}

// Returns a halo of a random grid of so many ranks, which may have no cells. Corners, widths, what of them is
// exchanged, and which dimensions are periodic are random as well. With `channel` it says how to repeat it.
HaloCase random_halo(unsigned seed, int ranks, std::string channel);
std::string describe(const HaloCase& test);

}  // namespace tca::test
