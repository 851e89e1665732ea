// One rank's part of the solution: its cells, and an iteration over them.
#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "himeno/exchange.hpp"
#include "himeno/kernel.hpp"
#include "himeno/problem.hpp"
#include "tca/grid.hpp"
#include "tca/world.hpp"

namespace tca::himeno {

// Where an iteration's time went on this rank, in microseconds.
struct Phases {
  double compute_us = 0;
  double start_us = 0;
  double wait_us = 0;
  double reduce_us = 0;

  double exchange_us() const { return start_us + wait_us; }
  double total_us() const { return compute_us + start_us + wait_us + reduce_us; }
};

// Throws Error{invalid_argument} unless the grid has three dimensions, and in each a cell for every rank.
void check_grid(const Problem& problem, const Grid& grid);

class Solver {
 public:
  // Collective. With `traced`, every iteration's computation is a span of the world's trace.
  Solver(World& world, const Problem& problem, const Grid& grid, bool traced = false);

  // One iteration. Overlapped, the cells that neighbours need come first and travel while the rest is done.
  Phases iterate(Exchange& exchange, bool overlap);

  double residual() const { return residual_; }  // of the last iteration, over all ranks
  std::int64_t iterations() const { return iterations_; }
  const Share& share() const { return share_; }
  const Pressure& pressure() const { return pressure_; }

  // The present pressure of a cell of the whole array that this rank owns.
  float at(const Extents& cell) const;

 private:
  double timed_sweep(const char* name, std::span<const Box> boxes, Phases& phases);

  World& world_;
  Share share_;
  Kernel kernel_;
  Pressure pressure_;
  Box whole_;
  std::vector<Box> shell_;  // what the neighbours need
  Box core_;                // the rest
  int current_ = 0;         // which of the two arrays holds the present pressure
  double residual_ = 0;
  std::int64_t iterations_ = 0;
  bool traced_;
};

}  // namespace tca::himeno
