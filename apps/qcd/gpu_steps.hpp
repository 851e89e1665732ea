// Solves on a GPU, and applications of the operator, started kernel by kernel: by the host or as a CUDA graph.
#pragma once

#include <array>
#include <chrono>
#include <optional>
#include <span>

#include "qcd/gpu_method.hpp"
#include "qcd/gpu_solution.hpp"
#include "qcd/gpu_start.hpp"

namespace tca::qcd {

using Clock = std::chrono::steady_clock;
double us_since(Clock::time_point begin);

template <class T>
class GpuSteps {
 public:
  // Collective. All of them outlive this.
  GpuSteps(World& world, GpuWilson<T>& wilson, std::unique_ptr<GpuMethod<T>> method, const GpuSums& sums,
           const OwnStream& stream, const History& history);

  // Collective: from now on a graph starts what `solve` and `applications_us` repeat. Before the fields are filled.
  void make_graphs();

  // Collective. As the method begins, from the x and the b that are there; x is the answer.
  Solution solve(const SolveOptions& aim, Timed& timed);

  // Collective. q = M p or M^dagger p.
  void apply(bool dagger);
  // Collective. M and M^dagger in turn from p on; microseconds for one.
  double applications_us(int count);

 private:
  void apply_once(const T* in, T* out, bool dagger, bool next_dagger);
  void apply_twice();
  std::span<const Steps> seen(std::size_t which) const { return {here_.data() + which * rhs_, rhs_}; }
  void run(const Stage<T>& stage) { wilson_.run(stage, sums_.partials()); }

  World& world_;
  GpuWilson<T>& wilson_;
  const GpuSums& sums_;
  const OwnStream& stream_;
  History history_;
  std::unique_ptr<GpuMethod<T>> method_;
  std::size_t rhs_;
  PinnedArray<Steps> here_;  // twice, of all right-hand sides
  std::array<OwnEvent, 2> done_;
  std::optional<Graph> step_graph_, apply_graph_;
};

}  // namespace tca::qcd
