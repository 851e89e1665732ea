// GpuSteps runs solves and applications of the operator on a GPU kernel by kernel, started by the host or as
// a CUDA graph.
#pragma once

#include <array>
#include <chrono>
#include <optional>
#include <span>

#include "qcd/gpu/method.hpp"
#include "qcd/gpu/solution.hpp"
#include "qcd/gpu/start.hpp"

namespace tca::qcd {

using Clock = std::chrono::steady_clock;
double us_since(Clock::time_point begin);

template <class T>
class GpuSteps {
 public:
  // Collective. The arguments must outlive this object.
  GpuSteps(World& world, GpuWilson<T>& wilson, std::unique_ptr<GpuMethod<T>> method, const GpuSums& sums,
           const OwnStream& stream, const History& history);

  // Collective. From then on a graph starts what `solve` and `applications_us` repeat. To be called before
  // the fields are filled.
  void make_graphs();

  // Collective. Begins as the method does, from the x and b in the fields. x becomes the answer.
  Solution solve(const SolveOptions& aim, Timed& timed);

  // Collective. Computes q = M p or M^dagger p.
  void apply(bool dagger);
  // Collective. Applies M and M^dagger in turn, starting with p. Returns the microseconds of one application.
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
  // The Steps of all right-hand sides. There are two such arrays, which batches use in turn.
  PinnedArray<Steps> here_;
  std::array<OwnEvent, 2> done_;
  std::optional<Graph> step_graph_, apply_graph_;
};

}  // namespace tca::qcd
