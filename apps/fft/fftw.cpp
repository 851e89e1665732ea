#include "fft/fftw.hpp"

#include "tca/error.hpp"

#ifdef OPENTCA_HAVE_FFTW

#include <mutex>
#include <vector>

#include "fft/fftw_names.hpp"

namespace tca::fft {

namespace {

// FFTW's planner is one for the process, whose ranks may be threads.
std::mutex planner;

template <class Real>
struct Fftw;

template <>
struct Fftw<double> : FftwNames<double> {
  using Dim = fftw_iodim64;
  static constexpr auto complex = fftw_plan_guru64_dft;
  static constexpr auto to_complex = fftw_plan_guru64_dft_r2c;
  static constexpr auto to_real = fftw_plan_guru64_dft_c2r;
};

template <>
struct Fftw<float> : FftwNames<float> {
  using Dim = fftwf_iodim64;
  static constexpr auto complex = fftwf_plan_guru64_dft;
  static constexpr auto to_complex = fftwf_plan_guru64_dft_r2c;
  static constexpr auto to_real = fftwf_plan_guru64_dft_c2r;
};

// Strides of a real array count real numbers, two for each complex one that has their place.
template <class Dim>
std::vector<Dim> dims(const std::vector<Axis>& axes, bool real, bool forward, bool has_real_last) {
  std::vector<Dim> all;
  for (std::size_t i = 0; i < axes.size(); ++i) {
    const bool contiguous = has_real_last && i + 1 == axes.size();
    const std::int64_t stride = axes[i].stride, on_real_side = real && !contiguous ? 2 * stride : stride;
    all.push_back({axes[i].size, forward ? on_real_side : stride, forward ? stride : on_real_side});
  }
  return all;
}

template <class Real>
class FftwTransform : public Transform {
 public:
  FftwTransform(const Local& local, std::complex<Real>* data, Direction direction, bool measured) {
    using F = Fftw<Real>;
    const bool forward = direction == Direction::forward;
    const auto over = dims<typename F::Dim>(local.over, local.real, forward, local.real);
    const auto each = dims<typename F::Dim>(local.for_each, local.real, forward, false);
    auto* const numbers = reinterpret_cast<typename F::Complex*>(data + local.first);
    auto* const reals = reinterpret_cast<Real*>(numbers);
    const unsigned effort = measured ? FFTW_MEASURE : FFTW_ESTIMATE;
    const int rank = static_cast<int>(over.size()), loops = static_cast<int>(each.size());
    const std::lock_guard lock(planner);
    if (!local.real) {
      plan_ = F::complex(rank, over.data(), loops, each.data(), numbers, numbers,
                         forward ? FFTW_FORWARD : FFTW_BACKWARD, effort);
    } else if (forward) {
      plan_ = F::to_complex(rank, over.data(), loops, each.data(), reals, numbers, effort);
    } else {
      plan_ = F::to_real(rank, over.data(), loops, each.data(), numbers, reals, effort);
    }
    if (!plan_) throw Error(Errc::out_of_memory, "FFTW cannot plan a transform of these extents");
  }
  FftwTransform(const FftwTransform&) = delete;
  FftwTransform& operator=(const FftwTransform&) = delete;
  ~FftwTransform() override {
    const std::lock_guard lock(planner);
    Fftw<Real>::destroy(plan_);
  }

  void run() override { Fftw<Real>::execute(plan_); }

 private:
  typename Fftw<Real>::Plan plan_ = nullptr;
};

}  // namespace

std::string missing_fftw() { return {}; }
std::string fftw_version() { return ::fftw_version; }

template <class Real>
std::unique_ptr<Transform> fftw_transform(const Local& local, std::complex<Real>* data, Direction direction,
                                          bool measured) {
  return std::make_unique<FftwTransform<Real>>(local, data, direction, measured);
}

}  // namespace tca::fft

#else

namespace tca::fft {

std::string missing_fftw() {
  return "this OpenTCA was built without FFTW, which transforms on hosts: install libfftw3-dev and configure "
         "again";
}
std::string fftw_version() { return {}; }

template <class Real>
std::unique_ptr<Transform> fftw_transform(const Local&, std::complex<Real>*, Direction, bool) {
  throw Error(Errc::incompatible, missing_fftw());
}

}  // namespace tca::fft

#endif

namespace tca::fft {

template std::unique_ptr<Transform> fftw_transform(const Local&, std::complex<float>*, Direction, bool);
template std::unique_ptr<Transform> fftw_transform(const Local&, std::complex<double>*, Direction, bool);

}  // namespace tca::fft
