// A simulation on GPUs: particles and fields stay there, and the host has what is known after a step.
#pragma once

#include <cuda_runtime.h>

#include <memory>
#include <vector>

#include "pic/exchange.hpp"
#include "pic/solver.hpp"
#include "shared/channels.hpp"
#include "shared/start.hpp"

namespace tca::pic {

// How steps are started, and how many particles a round takes to each neighbour, or 0 for as many as are expected.
struct GpuOptions {
  apps::Start start = apps::Start::automatic;  // by a graph, unless host or kernel
  apps::Channels channels = {};
  std::int64_t room = 0;
};

template <class Number>
class GpuSolver : public Solver<Number> {
 public:
  // Collective. Throws Error{invalid_argument} for a kernel where kernels do not reach every rank, or where it does not fit on
  // the GPU as often as ranks share that.
  GpuSolver(World& world, const Deck& deck, const Grid& grid, const GpuOptions& options);
  ~GpuSolver() override;

  // By which this solver exchanges; what `begin` and `step` take.
  Exchange& exchange();
  // Collective, once. The same by NCCL, or null in a build without it; valid as long as this solver.
  Exchange* nccl_peer();

  void begin(Exchange& exchange) override;
  Phases step(Exchange& exchange) override;
  Sample sample(bool gauss) override;
  std::int64_t most_at_once(const Exchange& exchange) const override;
  Phases run(Exchange& exchange, std::int64_t steps, bool gauss, std::vector<Sample>& samples) override;
  void fetch() override;
  std::int64_t steps() const override;

 private:
  struct State;

  void enqueue(Exchange& exchange);
  void enqueue_round(Exchange& exchange, cudaStream_t stream);
  // Calls `start`, and finishes what is behind so many steps. Returns microseconds of all.
  template <class Start>
  double timed(Exchange& exchange, std::int64_t steps, const Start& start);
  // What is known after the last steps, of which the last has been held against Gauss's law if asked.
  std::vector<Sample> taken(std::int64_t steps, bool gauss);

  std::unique_ptr<State> state_;
};

extern template class GpuSolver<double>;
extern template class GpuSolver<std::int64_t>;

}  // namespace tca::pic
