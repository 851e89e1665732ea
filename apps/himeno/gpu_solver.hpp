// One rank's part of the solution on its GPU, and an iteration over it.
#pragma once

#include <memory>
#include <vector>

#include "himeno/gpu_exchange.hpp"
#include "himeno/partition.hpp"
#include "himeno/problem.hpp"
#include "himeno/solution.hpp"
#include "tca/world.hpp"

namespace tca::himeno {

// What a GPU has come to, copied to the host.
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
  // Collective; the world's fabric is cuda. Overlapped, the cells that neighbours need come first and travel while the rest
  // is done. Throws Error{out_of_memory}, and Error{invalid_argument} when there are more ranks than multiprocessors.
  GpuSolver(World& world, const Problem& problem, const Grid& grid, bool overlap);
  ~GpuSolver();

  // Each of these puts iterations on the stream and returns; only the last iteration before `finish` needs its residual
  // over all ranks, as only that is ever looked at.
  void step(GpuExchange& exchange);
  void step_from(int which,
                 GpuExchange& exchange) const;  // not counted: for graphs, which take `steps_done` each time
  void steps_done(std::int64_t iterations);
  void add_up(GpuExchange& exchange);
  // All in one kernel, the sum over all ranks included. The exchange has partners().
  void run(const GpuExchange& exchange, std::int64_t iterations);

  // Waits for the stream and takes the residual. Throws what the world met meanwhile.
  void finish();

  int current() const { return current_; }  // which of the two arrays holds the present pressure
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
