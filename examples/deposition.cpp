// Deposits the charge of particles on a plate that the ranks share. A particle leaves a share in each of the
// four cells around it, of which up to three belong to other ranks: these shares gather in ghosts, and a fold
// adds them to their owners. Runs with any number of ranks, and always gives the same bits.
//
//   tca run -n 4 -- ./deposition
#include <cmath>
#include <cstdint>
#include <cstdio>
#include <random>
#include <vector>

#include "tca/tca.hpp"

// Of the whole plate, which is periodic.
static constexpr std::int64_t rows = 60, columns = 40, particles = 20000;

struct Particle {
  std::int64_t row, column;  // the cell below and to the left of it
  double up, right;          // how far it is from there, from 0 to 1
};

// All ranks draw the same particles.
static Particle draw(std::mt19937_64& random) {
  std::uniform_real_distribution<double> anywhere;
  const double y = anywhere(random) * rows, x = anywhere(random) * columns;
  return {static_cast<std::int64_t>(y), static_cast<std::int64_t>(x), y - std::floor(y), x - std::floor(x)};
}

// A share of a particle's charge of 1, in units of 2^-40: sums of whole numbers are not rounded, so that the
// order in which ranks add them up does not matter.
static std::int64_t share(const Particle& particle, int up, int right) {
  const double part = (up ? particle.up : 1 - particle.up) * (right ? particle.right : 1 - particle.right);
  return static_cast<std::int64_t>(part * (std::int64_t{1} << 40));
}

int main() try {
  auto world = tca::World::init();
  const tca::Grid grid = tca::Grid::choose(world.size(), {rows, columns}, {true, true});
  const tca::Range mine_y = grid.part(world.rank(), 0, rows), mine_x = grid.part(world.rank(), 1, columns);

  // Particles reach one cell up and one to the right, and both at once.
  tca::Halo halo(world, "charge", grid, {mine_y.size, mine_x.size},
                 {.width = {{0, 1}, {0, 1}}, .corners = true});
  auto charge = world.window<std::int64_t>(halo.elements());
  tca::Fold fold(world, "charge of others", halo);
  fold.add(charge).commit();

  std::vector<std::int64_t> whole(rows * columns);  // what one rank alone would have, to compare with
  std::mt19937_64 random(2012);
  for (std::int64_t p = 0; p < particles; ++p) {
    const Particle particle = draw(random);
    const std::int64_t y = particle.row - mine_y.begin, x = particle.column - mine_x.begin;
    const bool is_here = y >= 0 && y < mine_y.size && x >= 0 && x < mine_x.size;
    for (int up = 0; up < 2; ++up) {
      for (int right = 0; right < 2; ++right) {
        whole[(particle.row + up) % rows * columns + (particle.column + right) % columns] +=
            share(particle, up, right);
        if (is_here) charge[halo.index({y + up, x + right})] += share(particle, up, right);
      }
    }
  }
  fold.start();
  // Here a program would push the next particles; its cells may change, its ghosts not.
  fold.wait();

  for (std::int64_t y = 0; y < mine_y.size; ++y) {
    for (std::int64_t x = 0; x < mine_x.size; ++x) {
      if (charge[halo.index({y, x})] == whole[(mine_y.begin + y) * columns + mine_x.begin + x]) continue;
      std::printf("wrong: the charge of cell %lld, %lld of rank %d\n", static_cast<long long>(y),
                  static_cast<long long>(x), world.rank());
      return 1;
    }
  }
  if (world.rank() == 0)
    std::printf("every cell has its charge, on a grid of %s ranks\n", grid.describe().c_str());
} catch (const tca::Error& error) {
  std::fprintf(stderr, "%s\n", error.what());
  return error.exit_code();
}
