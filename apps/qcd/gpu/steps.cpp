#include "qcd/gpu/steps.hpp"

#include <algorithm>
#include <utility>

namespace tca::qcd {

double us_since(Clock::time_point begin) {
  return std::chrono::duration<double, std::micro>(Clock::now() - begin).count();
}

template <class T>
GpuSteps<T>::GpuSteps(World& world, GpuWilson<T>& wilson, std::unique_ptr<GpuMethod<T>> method,
                      const GpuSums& sums, const OwnStream& stream, const History& history)
    : world_(world),
      wilson_(wilson),
      sums_(sums),
      stream_(stream),
      history_(history),
      method_(std::move(method)),
      rhs_(wilson.rhs()),
      here_(2 * rhs_) {}

// The barrier is for ranks that share a GPU, where no memory can be allocated and no graph be made while
// another rank's kernel waits for this one.
template <class T>
void GpuSteps<T>::make_graphs() {
  world_.barrier();
  // A rehearsal before the capture, for what connects or is loaded on first use. All fields are zero, and
  // stay so.
  method_->step();
  apply_twice();
  stream_.synchronize("rehearsing an iteration");
  // Each graph begins with an exchange of the even sites and ends with one of the odd sites; see
  // GpuWilson::last_odd_.
  step_graph_.emplace(world_, stream_.get(), [&] { method_->step(); });
  apply_graph_.emplace(world_, stream_.get(), [&] { apply_twice(); });
}

template <class T>
Solution GpuSteps<T>::solve(const SolveOptions& aim, Timed& timed) {
  const auto start = Clock::now();
  Steps first;
  first.tolerance = aim.tolerance;
  first.update_at = aim.update_at;
  first.most = aim.max_iterations;
  method_->begin(first);
  timed.iterations = 0;
  for (int n = 0;; ++n) {
    timed.iterations += method_->batch();
    for (int k = 0; k < method_->batch(); ++k) step_graph_ ? step_graph_->launch() : method_->step();
    const auto now = static_cast<std::size_t>(n % 2), before = 1 - now;
    method_->tell(here_.data() + now * rhs_);
    cuda_ok(cudaEventRecord(done_[now].get(), stream_.get()), "iterating");
    if (n == 0) continue;
    // The host waits for the batch before this one, so that the GPU has work meanwhile. All ranks look at the
    // same batch and so decide alike.
    cuda_ok(cudaEventSynchronize(done_[before].get()), "iterating");
    world_.check();
    const std::span<const Steps> all = seen(before);
    if (std::all_of(all.begin(), all.end(), [](const Steps& one) { return one.over; })) break;
    if (!all.front().due) continue;
    method_->update();
    // Skip the next look: the batch that is on the stream already does not know of the update.
    n = -1;
  }
  stream_.synchronize("iterating");
  timed.us = us_since(start);
  return solution_of(seen(0), history_, timed.us, aim.tolerance);
}

// Computes out = M in, and sends its halves for another application.
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

// p and q take turns as input, so that a stage sends what the next one needs.
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
