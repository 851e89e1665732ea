#include "fft/plan.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <utility>

#include "fft/fftw.hpp"

namespace tca::fft {

Extents complex_extents(const Extents& extents, bool real) {
  return {extents[0], extents[1], real ? extents[2] / 2 + 1 : extents[2]};
}

Decomposition decompose(const Extents& extents, int ranks, const Options& options) {
  const Extents all = complex_extents(extents, options.real);
  const auto [rows, columns] = choose_grid(all, ranks, options.grid);
  return {all, rows, columns};
}

namespace {

// On a modelled machine the work only takes time: that of what it moves and computes.
class HostTransform : public Transform {
 public:
  HostTransform(World& world, std::unique_ptr<Transform> fftw, double bytes, double flops)
      : world_(world), fftw_(std::move(fftw)), bytes_(bytes), flops_(flops) {}

  void run() override {
    fftw_->run();
    world_.compute(bytes_, flops_);
  }

 private:
  World& world_;
  std::unique_ptr<Transform> fftw_;
  double bytes_, flops_;
};

}  // namespace

template <class Real>
Plan<Real>::Plan(World& world, const Extents& extents, const Options& options)
    : world_(world),
      options_(options),
      real_size_(options.real ? extents[2] : 0),
      decomposition_(decompose(extents, world.size(), options)),
      input_box_(decomposition_.box(0, world.rank())),
      output_box_(decomposition_.box(decomposition_.stages().size() - 1, world.rank())),
      batches_(std::clamp(options.batches, 1, decomposition_.most_batches())) {
  for (std::size_t stage = 0; stage < decomposition_.stages().size(); ++stage)
    arrays_.push_back(world.window<Complex>(decomposition_.box(stage, world.rank()).elements(),
                                            fmt::format("stage {}", stage)));
  const MakeTransposition direct = [this](const Hop& hop) {
    return direct_transposition(world_, decomposition_, arrays_, hop, options_.channels);
  };
  forward_.emplace(with(Direction::forward, direct));
  backward_.emplace(with(Direction::backward, direct));
}

template <class Real>
Pipeline Plan<Real>::with(Direction direction, const MakeTransposition& transposition) const {
  const MakeTransform transform = [&](std::size_t stage, const Local& local) -> std::unique_ptr<Transform> {
    auto fftw = fftw_transform(local, arrays_[stage].data(), direction, options_.measured);
    const double bytes = 2 * sizeof(Complex) * local.points() / (local.real ? 2 : 1);
    return std::make_unique<HostTransform>(world_, std::move(fftw), bytes, local.flops());
  };
  return {decomposition_, world_.rank(), direction, batches_, real_size_, transform, transposition};
}

template class Plan<float>;
template class Plan<double>;

}  // namespace tca::fft
