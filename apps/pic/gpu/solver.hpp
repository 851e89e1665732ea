// A simulation on GPUs: particles and fields stay there, and the host has them only when it takes a sample.
#pragma once

#include <memory>

#include "pic/exchange.hpp"
#include "pic/solver.hpp"
#include "shared/channels.hpp"
#include "shared/start.hpp"

namespace tca::pic {

template <class Number>
class GpuSolver : public Solver<Number> {
 public:
  // Collective. Boxes with walls are not for GPUs: throws Error{invalid_argument}.
  GpuSolver(World& world, const Deck& deck, const Grid& grid, apps::Start start,
            const apps::Channels& channels = {});
  ~GpuSolver() override;

  // By which this solver exchanges; what `begin` and `step` take.
  Exchange& exchange();

  void begin(Exchange& exchange) override;
  Phases step(Exchange& exchange) override;
  Sample sample(bool gauss) override;

 private:
  struct State;

  void enqueue(Exchange& exchange);
  void bring_back();

  std::unique_ptr<State> state_;
};

extern template class GpuSolver<double>;
extern template class GpuSolver<std::int64_t>;

}  // namespace tca::pic
