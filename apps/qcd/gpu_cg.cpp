// Conjugate gradients on the normal equations, with one sum an iteration; gpu_solve.hpp has the algorithm.
#include "qcd/gpu_method.hpp"

namespace tca::qcd {
namespace {

template <class T>
class GpuCg final : public GpuMethod<T> {
 public:
  GpuCg(GpuWilson<T>& wilson, const GpuSums& sums, const OwnStream& stream, double* history)
      : wilson_(wilson), sums_(sums), stream_(stream), history_(history), steps_(1) {}

  // r and s from x, with p = s behind the update that follows.
  void begin(const Steps& first) override {
    steps_.write({CgSteps{first}}, stream_);
    const SolveFields<T>& f = wilson_.fields();
    // The update multiplies them by zero, which what is left of another solve may not survive.
    for (T* field : {f.p, f.q, f.w}) {
      cuda_ok(cudaMemsetAsync(field, 0, wilson_.half() * spinor_reals * sizeof(T), stream_.get()),
              "clearing a field");
    }
    wilson_.project(f.x, false, false);
    run(residual_stage(f, 0, true));
    const unsigned shares = run(residual_stage(f, 1, true));
    run(normal_stage(f, 0, false));
    wilson_.run(normal_stage(f, 1, false), sums_.partials() + std::size_t{shares} * sum_count);
    end_step(shares);
  }

  void step() override {
    const SolveFields<T>& f = wilson_.fields();
    run(iteration_stage(f, 0));
    const unsigned shares = run(iteration_stage(f, 1));
    run(iteration_stage(f, 2));
    wilson_.run(iteration_stage(f, 3), sums_.partials() + std::size_t{shares} * sum_count);
    end_step(shares);
  }

  const Steps* steps() const override { return steps_.data(); }

 private:
  unsigned run(const Stage<T>& stage) { return wilson_.run(stage, sums_.partials()); }

  void end_step(unsigned shares) {
    sums_.add_up(2 * shares);
    cuda_ok(launch_decide(steps_.data(), sums_.totals(), history_, stream_.get()), "deciding");
    wilson_.update(steps_.data());
  }

  GpuWilson<T>& wilson_;
  const GpuSums& sums_;
  const OwnStream& stream_;
  double* history_;
  DeviceArray<CgSteps> steps_;
};

}  // namespace

template <class T>
std::unique_ptr<GpuMethod<T>> gpu_cg(GpuWilson<T>& wilson, const GpuSums& sums, const OwnStream& stream,
                                     double* history) {
  return std::make_unique<GpuCg<T>>(wilson, sums, stream, history);
}
template std::unique_ptr<GpuMethod<float>> gpu_cg(GpuWilson<float>&, const GpuSums&, const OwnStream&,
                                                  double*);
template std::unique_ptr<GpuMethod<double>> gpu_cg(GpuWilson<double>&, const GpuSums&, const OwnStream&,
                                                   double*);

}  // namespace tca::qcd
