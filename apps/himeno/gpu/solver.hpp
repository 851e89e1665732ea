// One rank's part of the solution on its GPU, and an iteration over it.
#pragma once

#include <memory>
#include <vector>

#include "himeno/gpu/exchange.hpp"
#include "himeno/partition.hpp"
#include "himeno/problem.hpp"
#include "himeno/solution.hpp"
#include "tca/world.hpp"

namespace tca::himeno {

// The state of a GpuSolver, copied to the host.
class GpuSolution : public Solution {
 public:
  GpuSolution(const Share& share, std::vector<float> pressure, double residual, std::int64_t iterations)
      : share_(share), pressure_(std::move(pressure)), residual_(residual), iterations_(iterations) {}

  const Share& share() const override { return share_; }
  double residual() const override { return residual_; }
  std::int64_t iterations() const override { return iterations_; }
  float at(const Extents& cell) const override;

 private:
  Share share_;
  std::vector<float> pressure_;  // ghosts included
  double residual_;
  std::int64_t iterations_;
};

class GpuSolver {
 public:
  // Collective; the world's fabric is cuda. With `overlap` the cells that neighbours need are computed first
  // and travel while the rest is computed. Throws Error{out_of_memory}, and Error{invalid_argument} when a
  // GPU has more ranks than multiprocessors.
  GpuSolver(World& world, const Problem& problem, const Grid& grid, bool overlap);
  ~GpuSolver();

  // The following calls put iterations on the stream and return. Only the last iteration before `finish`
  // needs its residual over all ranks (`add_up`), as no other is ever looked at.
  void step(GpuExchange& exchange);
  // Does not count its iteration, for use in graphs: the caller calls `steps_done` after each launch.
  void step_from(int which, GpuExchange& exchange) const;
  void steps_done(std::int64_t iterations);
  void add_up(GpuExchange& exchange);
  // Runs all iterations in one kernel, the sum over all ranks included. Needs an exchange with partners().
  void run(const GpuExchange& exchange, std::int64_t iterations);

  // Waits for the stream and fetches the residual. Throws what the world met meanwhile.
  void finish();

  // Index of the array that holds the present pressure.
  int current() const { return current_; }
  const Share& share() const { return share_; }
  const Pressure& pressure() const { return pressure_; }
  Stream stream() const;
  std::int64_t iterations() const { return iterations_; }

  GpuSolution solution() const;

 private:
  struct Device;

  World& world_;
  Share share_;
  Pressure pressure_;
  bool overlap_;
  std::unique_ptr<Device> device_;
  int current_ = 0;
  double residual_ = 0;
  std::int64_t iterations_ = 0;
};

}  // namespace tca::himeno
