// Conjugate gradients on the normal equations, with one sum in each iteration, in one precision and in mixed
// precision. gpu/solve.hpp describes the algorithm.
#include "qcd/gpu/method.hpp"

namespace tca::qcd {
namespace {

template <class T>
class GpuCg : public GpuMethod<T> {
 public:
  GpuCg(GpuWilson<T>& wilson, const GpuSums& sums, const OwnStream& stream, const History& history)
      : wilson_(wilson), sums_(sums), stream_(stream), history_(history), steps_(wilson.rhs()) {}

  void begin(const Steps& first) override {
    restart(first);
    const SolveFields<T>& f = wilson_.fields();
    wilson_.project(f.x, false, false);
    run(residual_stage(f, 0, true));
    normal(run(residual_stage(f, 1, true)));
    end_step(launch_decide);
  }

  void step() override {
    const SolveFields<T>& f = wilson_.fields();
    run(iteration_stage(f, 0));
    const unsigned shares = run(iteration_stage(f, 1));
    run(iteration_stage(f, 2));
    sums_.add_up(shares + run_behind(shares, iteration_stage(f, 3)));
    decide();
  }

  void tell(Steps* host) override {
    cuda_ok(launch_tell(steps_.data(), wilson_.rhs(), host, stream_.get()), "iterating");
  }

 protected:
  virtual void decide() { end_step(launch_decide); }

  void restart(const Steps& first) {
    steps_.write(std::vector<CgSteps>(wilson_.rhs(), CgSteps{first}), stream_);
    const SolveFields<T>& f = wilson_.fields();
    // The first update multiplies these by zero. What another solve has left in them may be NaN, which would
    // stay NaN.
    for (T* field : {f.p, f.q, f.w}) {
      cuda_ok(cudaMemsetAsync(field, 0, wilson_.reals() * sizeof(T), stream_.get()), "clearing a field");
    }
  }

  // Computes s from r, whose halves have been sent, and adds up the sums of both. Those of r are in the first
  // `shares` shares.
  void normal(unsigned shares) {
    const SolveFields<T>& f = wilson_.fields();
    run_behind(shares, normal_stage(f, 0, false));
    sums_.add_up(shares + run_behind(shares, normal_stage(f, 1, false)));
  }

  // Decides from the sums, and moves the vectors on.
  using Decide = cudaError_t(CgSteps*, unsigned, const double*, const History&, cudaStream_t);
  void end_step(Decide& launch) {
    cuda_ok(launch(steps_.data(), wilson_.rhs(), sums_.totals(), history_, stream_.get()), "deciding");
    wilson_.update(steps_.data());
  }

  GpuWilson<T>& wilson_;
  const GpuSums& sums_;
  const OwnStream& stream_;

 private:
  unsigned run(const Stage<T>& stage) { return wilson_.run(stage, sums_.partials()); }
  unsigned run_behind(unsigned shares, const Stage<T>& stage) {
    return wilson_.run(stage, sums_.partials() + std::size_t{shares} * wilson_.rhs() * sum_count);
  }

  History history_;
  DeviceArray<CgSteps> steps_;
};

class GpuCgMixed final : public GpuCg<float> {
 public:
  GpuCgMixed(GpuWilson<float>& search, GpuWilson<double>& exact, const GpuSums& sums, const OwnStream& stream,
             const History& history)
      : GpuCg(search, sums, stream, history), exact_(exact) {}

  void begin(const Steps& first) override {
    restart(first);
    cuda_ok(cudaMemsetAsync(wilson_.fields().x, 0, wilson_.reals() * sizeof(float), stream_.get()),
            "clearing a field");
    update();
  }

  void update() override {
    const SolveFields<float>& f = wilson_.fields();
    const SolveFields<double>& d = exact_.fields();
    cuda_ok(launch_take_in(f, d, exact_.clear_to_send(false), stream_.get()), "updating the solution");
    exact_.run(residual_stage(d, 0, false), sums_.partials());
    const unsigned shares = exact_.run(residual_stage(d, 1, false), sums_.partials());
    cuda_ok(launch_hand_over(f, d, wilson_.clear_to_send(false), stream_.get()), "updating the residual");
    normal(shares);
    end_step(launch_go_on);
  }

  // One iteration is on the stream while the host looks. If an update is due, only that one is wasted.
  int batch() const override { return 1; }

 private:
  void decide() override { end_step(launch_settle); }

  GpuWilson<double>& exact_;
};

}  // namespace

template <class T>
std::unique_ptr<GpuMethod<T>> gpu_cg(GpuWilson<T>& wilson, const GpuSums& sums, const OwnStream& stream,
                                     const History& history) {
  return std::make_unique<GpuCg<T>>(wilson, sums, stream, history);
}
template std::unique_ptr<GpuMethod<float>> gpu_cg(GpuWilson<float>&, const GpuSums&, const OwnStream&,
                                                  const History&);
template std::unique_ptr<GpuMethod<double>> gpu_cg(GpuWilson<double>&, const GpuSums&, const OwnStream&,
                                                   const History&);

std::unique_ptr<GpuMethod<float>> gpu_cg_mixed(GpuWilson<float>& search, GpuWilson<double>& exact,
                                               const GpuSums& sums, const OwnStream& stream,
                                               const History& history) {
  return std::make_unique<GpuCgMixed>(search, exact, sums, stream, history);
}

}  // namespace tca::qcd
