// One rank's part of the solution: its cells, and an iteration over them.
#pragma once

#include <cstdint>
#include <span>

#include "himeno/exchange.hpp"
#include "himeno/kernel.hpp"
#include "himeno/problem.hpp"
#include "himeno/solution.hpp"
#include "himeno/way.hpp"
#include "tca/grid.hpp"
#include "tca/world.hpp"

namespace tca::himeno {

class Solver : public Solution {
 public:
  // Collective. With `traced`, every iteration's computation is a span of the world's trace.
  Solver(World& world, const Problem& problem, const Grid& grid, bool traced = false);

  // Does one iteration. With `overlap` the cells that neighbours need are computed first and travel while the
  // rest is computed.
  Phases iterate(Exchange& exchange, bool overlap);

  double residual() const override { return residual_; }
  std::int64_t iterations() const override { return iterations_; }
  const Share& share() const override { return share_; }
  float at(const Extents& cell) const override;

  const Pressure& pressure() const { return pressure_; }

 private:
  double now_us() const;
  double timed_sweep(const char* name, std::span<const Box> boxes, Phases& phases);

  World& world_;
  Share share_;
  Kernel kernel_;
  Pressure pressure_;
  Box whole_;
  Division parts_;
  int current_ = 0;  // index of the array that holds the present pressure
  double residual_ = 0;
  std::int64_t iterations_ = 0;
  bool traced_;
};

}  // namespace tca::himeno
