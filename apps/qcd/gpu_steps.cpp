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
GpuSteps<T>::GpuSteps(World& world, GpuWilson<T>& wilson, Method method, const GpuSums& sums,
                      const OwnStream& stream, int most)
    : world_(world),
      wilson_(wilson),
      sums_(sums),
      stream_(stream),
      here_(2),
      history_(static_cast<std::size_t>(std::max(1, most))),
      method_(method == Method::cg ? gpu_cg(wilson, sums, stream, history_.data())
                                   : gpu_bicgstab(wilson, sums, stream, history_.data())) {}

// Ranks may share a GPU, on which neither memory is given out nor a graph made while another rank's kernel waits for this one.
template <class T>
void GpuSteps<T>::make_graphs() {
  world_.barrier();
  // What connects or is loaded when it is first used is there before it is captured. All fields are zero, and stay so.
  method_->step();
  apply_twice();
  stream_.synchronize("rehearsing an iteration");
  step_graph_.emplace(world_, stream_.get(), [&] { method_->step(); });
  apply_graph_.emplace(world_, stream_.get(), [&] { apply_twice(); });
}

template <class T>
Solution GpuSteps<T>::solve(const SolveOptions& aim, Timed& timed) {
  const auto start = Clock::now();
  Steps first;
  first.tolerance = aim.tolerance;
  first.most = aim.max_iterations;
  method_->begin(first);
  timed.iterations = 0;
  for (int n = 0;; ++n) {
    timed.iterations += batch;
    for (int k = 0; k < batch; ++k) step_graph_ ? step_graph_->launch() : method_->step();
    const auto now = static_cast<std::size_t>(n % 2), before = 1 - now;
    cuda_ok(launch_tell(method_->steps(), here_.data() + now, stream_.get()), "iterating");
    cuda_ok(cudaEventRecord(done_[now].get(), stream_.get()), "iterating");
    if (n == 0) continue;
    // The batch before this one: the GPU has work while the host looks, and every rank sees the same.
    cuda_ok(cudaEventSynchronize(done_[before].get()), "iterating");
    world_.check();
    if (here_.data()[before].over) break;
  }
  stream_.synchronize("iterating");
  timed.us = us_since(start);
  const Steps& last = here_.data()[0];
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
  for (int n = 0; n < count; n += 2) apply_graph_ ? apply_graph_->launch() : apply_twice();
  stream_.synchronize("applying the operator");
  return us_since(start) / count;
}

template class GpuSteps<float>;
template class GpuSteps<double>;

}  // namespace tca::qcd
