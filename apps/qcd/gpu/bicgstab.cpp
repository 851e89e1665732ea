// BiCGStab on a GPU. gpu/bicgstab.hpp lists what the fields are used for.
#include "qcd/gpu/method.hpp"

namespace tca::qcd {
namespace {

template <class T>
class GpuBicgstab final : public GpuMethod<T> {
 public:
  GpuBicgstab(GpuWilson<T>& wilson, const GpuSums& sums, const OwnStream& stream, const History& history)
      : wilson_(wilson), sums_(sums), stream_(stream), history_(history), steps_(wilson.rhs()) {}

  void begin(const Steps& first) override {
    steps_.write(std::vector<BicgstabSteps>(wilson_.rhs(), BicgstabSteps{first}), stream_);
    const SolveFields<T>& f = wilson_.fields();
    wilson_.project(f.x, false, false);
    wilson_.run(residual_stage(f, 0, false), sums_.partials());
    sums_.add_up(wilson_.run(residual_stage(f, 1, false), sums_.partials()));
    cuda_ok(launch_begin(steps_.data(), wilson_.rhs(), sums_.totals(), stream_.get()), "deciding");
    cuda_ok(launch_first_direction(f, stream_.get()), "starting a solve");
    wilson_.project(f.p, false, false);
  }

  void step() override {
    const SolveFields<T>& f = wilson_.fields();
    apply(f.p, f.q);
    cuda_ok(launch_overlap(f, sums_.partials(), stream_.get()), "adding up");
    add_up(overlap_sum_count);
    cuda_ok(launch_decide_half(steps_.data(), wilson_.rhs(), sums_.totals(), stream_.get()), "deciding");
    cuda_ok(launch_half_step(f, steps_.data(), stream_.get()), "iterating");
    wilson_.project(f.r, false, false);
    apply(f.r, f.w);
    cuda_ok(launch_residual(f, sums_.partials(), stream_.get()), "adding up");
    add_up(residual_sum_count);
    cuda_ok(launch_decide(steps_.data(), wilson_.rhs(), sums_.totals(), history_, stream_.get()), "deciding");
    cuda_ok(launch_whole_step(f, steps_.data(), stream_.get()), "iterating");
    wilson_.project(f.p, false, false);
  }

  void tell(Steps* host) override {
    cuda_ok(launch_tell(steps_.data(), wilson_.rhs(), host, stream_.get()), "iterating");
  }

 private:
  // Computes out = M in. The neighbours must have the halves of `in`.
  void apply(const T* in, T* out) {
    const SolveFields<T>& f = wilson_.fields();
    wilson_.run({.in = in, .out = f.odd, .to_odd = true, .sends = true}, sums_.partials());
    wilson_.run({.in = f.odd, .out = out, .plus = in, .factor = -f.kappa2}, sums_.partials());
  }

  void add_up(unsigned count) { sums_.add_up(vector_blocks(numbers_of(wilson_.fields())), count); }

  GpuWilson<T>& wilson_;
  const GpuSums& sums_;
  const OwnStream& stream_;
  History history_;
  DeviceArray<BicgstabSteps> steps_;
};

}  // namespace

template <class T>
std::unique_ptr<GpuMethod<T>> gpu_bicgstab(GpuWilson<T>& wilson, const GpuSums& sums, const OwnStream& stream,
                                           const History& history) {
  return std::make_unique<GpuBicgstab<T>>(wilson, sums, stream, history);
}
template std::unique_ptr<GpuMethod<float>> gpu_bicgstab(GpuWilson<float>&, const GpuSums&, const OwnStream&,
                                                        const History&);
template std::unique_ptr<GpuMethod<double>> gpu_bicgstab(GpuWilson<double>&, const GpuSums&, const OwnStream&,
                                                         const History&);

}  // namespace tca::qcd
