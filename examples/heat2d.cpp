// The heat equation on a plate with a hot edge, distributed over all ranks. Every rank checks its part
// against a run of the whole plate by itself.
//
//   tca run -n 4 -- ./heat2d [cells along a side] [steps]
#include <algorithm>
#include <cmath>
#include <cstdio>
#include <cstdlib>
#include <utility>
#include <vector>

#include "tca/tca.hpp"

// Computes new temperatures in rows [i0, i1) and columns [j0, j1) of an array whose rows are `pitch` long.
static void step(const double* u, double* next, long pitch, long i0, long i1, long j0, long j1) {
  for (long i = i0; i < i1; ++i) {
    for (long j = j0; j < j1; ++j) {
      const double* at = u + i * pitch + j;
      next[i * pitch + j] = *at + 0.2 * (at[-pitch] + at[pitch] + at[-1] + at[1] - 4 * *at);
    }
  }
}

// Computes the whole plate on one rank: n x n cells and the fixed edge around them, whose row 0 is hot.
static std::vector<double> whole_plate(long n, int steps) {
  const long pitch = n + 2;
  std::vector<double> u(static_cast<std::size_t>(pitch * pitch));
  for (long j = 0; j < pitch; ++j) u[static_cast<std::size_t>(j)] = 100;
  std::vector<double> next = u;
  for (int s = 0; s < steps; ++s) {
    step(u.data(), next.data(), pitch, 1, n + 1, 1, n + 1);
    u.swap(next);
  }
  return u;
}

int main(int argc, char** argv) try {
  const long n = argc > 1 ? std::atol(argv[1]) : 128;
  const int steps = argc > 2 ? std::atoi(argv[2]) : 200;
  if (n < 1 || steps < 1) {
    std::fprintf(stderr, "usage: heat2d [cells along a side] [steps]\n");
    return 2;
  }
  auto world = tca::World::init();
  const auto grid = tca::Grid::choose(world.size(), {n, n});
  const tca::Range rows = grid.part(world.rank(), 0, n);
  const tca::Range columns = grid.part(world.rank(), 1, n);

  // My cells, with a ghost cell on every side. At the rim of the plate the ghosts are its fixed edge.
  tca::Halo halo(world, "heat", grid, {rows.size, columns.size});
  auto plate = world.window<double>(halo.elements());
  halo.add(plate).commit();
  const long pitch = columns.size + 2;
  if (rows.begin == 0) {
    for (long j = 0; j < pitch; ++j) plate[j] = 100;
  }

  double* const u = plate.data();
  std::vector<double> next(plate.elements().begin(), plate.elements().end());
  for (int s = 0; s < steps; ++s) {
    halo.start();
    // The inner cells need no ghosts, so this overlaps the exchange.
    step(u, next.data(), pitch, 2, rows.size, 2, columns.size);
    halo.wait();
    for (const long i : {1L, rows.size}) step(u, next.data(), pitch, i, i + 1, 1, columns.size + 1);
    for (const long j : {1L, columns.size}) step(u, next.data(), pitch, 2, rows.size, j, j + 1);
    for (long i = 1; i <= rows.size; ++i) std::copy_n(&next[i * pitch + 1], columns.size, &u[i * pitch + 1]);
  }

  const std::vector<double> expected = whole_plate(n, steps);
  double difference = 0;
  for (long i = 1; i <= rows.size; ++i) {
    for (long j = 1; j <= columns.size; ++j) {
      const double correct = expected[(rows.begin + i) * (n + 2) + columns.begin + j];
      difference = tca::Max()(difference, std::fabs(u[i * pitch + j] - correct));  // keeps a NaN
    }
  }
  double worst = difference;
  for (const double other : world.all_gather(difference)) worst = tca::Max()(worst, other);
  if (world.rank() == 0) {
    std::printf("%ld x %ld cells, %d steps on a grid of %s: %s\n", n, n, steps, grid.describe().c_str(),
                worst < 1e-9 ? "as by one rank" : "WRONG");
  }
  return worst < 1e-9 ? 0 : 1;
} catch (const tca::Error& error) {
  std::fprintf(stderr, "%s\n", error.what());
  return error.exit_code();
}
