// Conjugate gradients on a GPU, and applications of the operator, started kernel by kernel: by the host or as a CUDA graph.
#pragma once

#include <array>
#include <chrono>
#include <optional>

#include "qcd/gpu_start.hpp"
#include "qcd/gpu_wilson.hpp"
#include "tca/team.hpp"

namespace tca::qcd {

using Clock = std::chrono::steady_clock;
double us_since(Clock::time_point begin);

// The sums of a solve over blocks and ranks, on a stream.
class GpuSums {
 public:
  // Collective. With a peer, which must outlive this, it adds up over the ranks.
  GpuSums(World& world, const Peer* peer, const OwnStream& stream);

  // Where stages leave their shares: up to two stages of as many blocks as there may be, in two launches each.
  double* partials() const { return partials_.data(); }
  double* totals() const { return totals_.data(); }
  // Collective, on the stream: of so many shares, over all ranks.
  void add_up(unsigned shares) const;
  // All shares, of which some may not be written, begin as zero.
  void clear() const;
  const Team& team() const { return team_; }
  std::vector<double> read() const { return totals_.read(stream_); }

 private:
  int ranks_;
  const Peer* peer_;
  const OwnStream& stream_;
  DeviceArray<double> partials_, totals_;
  Team team_;
};

// What a solve came to, as the host's solvers say it.
Solution solution_of(const double* squared_history, const Outcome& outcome, double us, double tolerance);

template <class T>
class GpuSteps {
 public:
  // Collective. All of them outlive this. `most` is the largest number of iterations.
  GpuSteps(World& world, GpuWilson<T>& wilson, const GpuSums& sums, const OwnStream& stream, int most);

  // Collective: from now on a graph starts what `solve` and `applications_us` repeat. Before the fields are filled.
  void make_graphs();

  // Collective. From the x and the b that are there; x is the answer.
  Solution solve(const SolveOptions& aim, Timed& timed);

  // Collective. q = M p or M^dagger p.
  void apply(bool dagger);
  // Collective. M and M^dagger in turn from p on; microseconds for one.
  double applications_us(int count);

 private:
  void begin();
  void step();
  void end_step(unsigned shares);
  void apply_once(const T* in, T* out, bool dagger, bool next_dagger);
  void apply_twice();
  void run(const Stage<T>& stage) { wilson_.run(stage, sums_.partials()); }

  World& world_;
  GpuWilson<T>& wilson_;
  const GpuSums& sums_;
  const OwnStream& stream_;
  DeviceArray<CgSteps> steps_;
  PinnedArray<CgSteps> here_;
  PinnedArray<double> history_;
  std::array<OwnEvent, 2> done_;
  std::optional<Graph> step_graph_, apply_graph_;
};

}  // namespace tca::qcd
