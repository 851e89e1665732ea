#include "qcd/gpu_steps.hpp"

#include <algorithm>
#include <cmath>

namespace tca::qcd {
namespace {

// So many iterations are put on the stream before the host looks; those behind the last change nothing.
constexpr int batch = 4;

}  // namespace

double us_since(Clock::time_point begin) {
  return std::chrono::duration<double, std::micro>(Clock::now() - begin).count();
}

GpuSums::GpuSums(World& world, const Peer* peer, const OwnStream& stream)
    : ranks_(world.size()),
      peer_(peer),
      stream_(stream),
      partials_(std::size_t{4} * most_hop_blocks * sum_count),
      totals_(sum_count),
      team_(world.team("solver sums", sum_count)) {}

void GpuSums::add_up(unsigned shares) const {
  cuda_ok(launch_totals(partials_.data(), shares, totals_.data(), stream_.get()), "adding up");
  if (ranks_ == 1) return;
  if (peer_ != nullptr) {
    peer_->sum({totals_.data(), sum_count}, stream_.get());
  } else {
    team_.allreduce_sum(totals_.data(), sum_count, stream_.get());
  }
}

void GpuSums::clear() const {
  cuda_ok(cudaMemsetAsync(partials_.data(), 0, partials_.size() * sizeof(double), stream_.get()),
          "clearing sums");
}

Solution solution_of(const double* squared_history, const Outcome& outcome, double us, double tolerance) {
  Solution solution;
  solution.iterations = outcome.iterations;
  solution.updates = outcome.updates;
  for (int n = 0; n < outcome.iterations; ++n) solution.history.push_back(std::sqrt(squared_history[n]));
  solution.residuals = {std::sqrt(outcome.b2 > 0 ? outcome.r2 / outcome.b2 : outcome.r2)};
  solution.converged = solution.residuals[0] <= tolerance;
  solution.iteration_us.assign(static_cast<std::size_t>(outcome.iterations),
                               us / std::max(1, outcome.iterations));
  return solution;
}

template <class T>
GpuSteps<T>::GpuSteps(World& world, GpuWilson<T>& wilson, const GpuSums& sums, const OwnStream& stream,
                      int most)
    : world_(world),
      wilson_(wilson),
      sums_(sums),
      stream_(stream),
      steps_(1),
      here_(2),
      history_(static_cast<std::size_t>(std::max(1, most))) {}

// Ranks may share a GPU, on which neither memory is given out nor a graph made while another rank's kernel waits for this one.
template <class T>
void GpuSteps<T>::make_graphs() {
  world_.barrier();
  // What connects or is loaded when it is first used is there before it is captured. All fields are zero, and stay so.
  step();
  apply_twice();
  stream_.synchronize("rehearsing an iteration");
  world_.barrier();
  step_graph_.emplace(stream_.get(), [&] { step(); });
  apply_graph_.emplace(stream_.get(), [&] { apply_twice(); });
  world_.barrier();
}

// r and s from x, with p = s behind the update that follows.
template <class T>
void GpuSteps<T>::begin() {
  const SolveFields<T>& f = wilson_.fields();
  // The update multiplies them by zero, which what is left of another solve may not survive.
  for (T* field : {f.p, f.q, f.w}) {
    cuda_ok(cudaMemsetAsync(field, 0, wilson_.half() * spinor_reals * sizeof(T), stream_.get()),
            "clearing a field");
  }
  wilson_.project(f.x, false, false);
  run(residual_stage(f, 0, true));
  const unsigned shares = wilson_.run(residual_stage(f, 1, true), sums_.partials());
  run(normal_stage(f, 0, false));
  wilson_.run(normal_stage(f, 1, false), sums_.partials() + std::size_t{shares} * sum_count);
  end_step(shares);
}

template <class T>
void GpuSteps<T>::step() {
  const SolveFields<T>& f = wilson_.fields();
  run(iteration_stage(f, 0));
  const unsigned shares = wilson_.run(iteration_stage(f, 1), sums_.partials());
  run(iteration_stage(f, 2));
  wilson_.run(iteration_stage(f, 3), sums_.partials() + std::size_t{shares} * sum_count);
  end_step(shares);
}

template <class T>
void GpuSteps<T>::end_step(unsigned shares) {
  sums_.add_up(2 * shares);
  cuda_ok(launch_decide(steps_.data(), sums_.totals(), history_.data(), stream_.get()), "deciding");
  wilson_.update(steps_.data());
}

template <class T>
Solution GpuSteps<T>::solve(const SolveOptions& aim, Timed& timed) {
  const auto start = Clock::now();
  CgSteps first;
  first.tolerance = aim.tolerance;
  first.most = aim.max_iterations;
  steps_.write({first}, stream_);
  begin();
  timed.iterations = 0;
  for (int n = 0;; ++n) {
    timed.iterations += batch;
    for (int k = 0; k < batch; ++k) step_graph_ ? step_graph_->launch(stream_.get()) : step();
    const auto now = static_cast<std::size_t>(n % 2), before = 1 - now;
    cuda_ok(launch_tell(steps_.data(), here_.data() + now, stream_.get()), "iterating");
    cuda_ok(cudaEventRecord(done_[now].get(), stream_.get()), "iterating");
    if (n == 0) continue;
    // The batch before this one: the GPU has work while the host looks, and every rank sees the same.
    cuda_ok(cudaEventSynchronize(done_[before].get()), "iterating");
    world_.check();
    if (here_.data()[before].over) break;
  }
  stream_.synchronize("iterating");
  timed.us = us_since(start);
  const CgSteps& last = here_.data()[0];
  return solution_of(history_.data(), {.iterations = last.iterations, .b2 = last.b2, .r2 = last.r2}, timed.us,
                     aim.tolerance);
}

// out = M in; its halves go out for another application.
template <class T>
void GpuSteps<T>::apply_once(const T* in, T* out, bool dagger, bool next_dagger) {
  const SolveFields<T>& f = wilson_.fields();
  run({.in = in, .out = f.odd, .to_odd = true, .dagger = dagger, .sends = true, .sent_dagger = dagger});
  run({.in = f.odd,
       .out = out,
       .plus = in,
       .factor = -f.kappa2,
       .dagger = dagger,
       .sends = true,
       .sent_dagger = next_dagger});
}

template <class T>
void GpuSteps<T>::apply(bool dagger) {
  const SolveFields<T>& f = wilson_.fields();
  wilson_.project(f.p, false, dagger);
  apply_once(f.p, f.q, dagger, dagger);
  stream_.synchronize("applying the operator");
}

// The field and its image take turns, so that what a stage sends is what the next needs.
template <class T>
void GpuSteps<T>::apply_twice() {
  const SolveFields<T>& f = wilson_.fields();
  apply_once(f.p, f.q, false, true);
  apply_once(f.q, f.p, true, false);
}

template <class T>
double GpuSteps<T>::applications_us(int count) {
  wilson_.project(wilson_.fields().p, false, false);
  const auto start = Clock::now();
  for (int n = 0; n < count; n += 2) apply_graph_ ? apply_graph_->launch(stream_.get()) : apply_twice();
  stream_.synchronize("applying the operator");
  return us_since(start) / count;
}

template class GpuSteps<float>;
template class GpuSteps<double>;

}  // namespace tca::qcd
