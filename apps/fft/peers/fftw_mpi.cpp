#include "fft/peers/fftw_mpi.hpp"

#ifdef OPENTCA_HAVE_FFTW_MPI

#include <fftw3-mpi.h>
#include <mpi.h>

#include <algorithm>
#include <cstddef>

#include "fft/fftw_names.hpp"

namespace tca::fft {

namespace {

template <class Real>
struct FftwMpi;

template <>
struct FftwMpi<double> : FftwNames<double> {
  static constexpr auto init = fftw_mpi_init;
  static constexpr auto local_size = fftw_mpi_local_size_3d_transposed;
  static constexpr auto allocate = fftw_alloc_complex;
  static constexpr auto free = fftw_free;
  static constexpr auto complex = fftw_mpi_plan_dft_3d;
  static constexpr auto to_complex = fftw_mpi_plan_dft_r2c_3d;
  static constexpr auto to_real = fftw_mpi_plan_dft_c2r_3d;
};

template <>
struct FftwMpi<float> : FftwNames<float> {
  static constexpr auto init = fftwf_mpi_init;
  static constexpr auto local_size = fftwf_mpi_local_size_3d_transposed;
  static constexpr auto allocate = fftwf_alloc_complex;
  static constexpr auto free = fftwf_free;
  static constexpr auto complex = fftwf_mpi_plan_dft_3d;
  static constexpr auto to_complex = fftwf_mpi_plan_dft_r2c_3d;
  static constexpr auto to_real = fftwf_mpi_plan_dft_c2r_3d;
};

template <class Real>
class FftwMpiWay : public Way {
  using F = FftwMpi<Real>;

 public:
  FftwMpiWay(World& world, const Field& field, const Ends<Real>& ends, bool measured)
      : world_(world), ends_(ends) {
    F::init();
    const Extents &n = field.extents, &in = ends.input_box.size;
    std::ptrdiff_t rows = 0, first_row = 0, columns = 0, first_column = 0;
    const std::ptrdiff_t needed =
        F::local_size(n[0], n[1], in[2], MPI_COMM_WORLD, &rows, &first_row, &columns, &first_column);
    numbers_ = F::allocate(static_cast<std::size_t>(needed));
    auto* const reals = reinterpret_cast<Real*>(numbers_);
    const unsigned effort = measured ? FFTW_MEASURE : FFTW_ESTIMATE;
    const unsigned out = effort | FFTW_MPI_TRANSPOSED_OUT, back = effort | FFTW_MPI_TRANSPOSED_IN;
    if (field.real) {
      forward_ = F::to_complex(n[0], n[1], n[2], reals, numbers_, MPI_COMM_WORLD, out);
      backward_ = F::to_real(n[0], n[1], n[2], numbers_, reals, MPI_COMM_WORLD, back);
    } else {
      forward_ = F::complex(n[0], n[1], n[2], numbers_, numbers_, MPI_COMM_WORLD, FFTW_FORWARD, out);
      backward_ = F::complex(n[0], n[1], n[2], numbers_, numbers_, MPI_COMM_WORLD, FFTW_BACKWARD, back);
    }
  }
  FftwMpiWay(const FftwMpiWay&) = delete;
  FftwMpiWay& operator=(const FftwMpiWay&) = delete;
  ~FftwMpiWay() override {
    F::destroy(forward_);
    F::destroy(backward_);
    F::free(numbers_);
  }

  void forward() override {
    take_input();
    F::execute(forward_);
    each_line([](Complex* own, Complex* plan, std::int64_t count) { std::copy_n(own, count, plan); });
  }
  void backward() override {
    each_line([](Complex* own, Complex* plan, std::int64_t count) { std::copy_n(plan, count, own); });
    F::execute(backward_);
    std::copy_n(own(), ends_.input.size(), ends_.input.data());
  }

  Taken run(int pairs) override {
    take_input();
    world_.barrier();
    const double begin = world_.now().count();
    for (int pair = 0; pair < pairs; ++pair) {
      F::execute(forward_);
      F::execute(backward_);
    }
    return {.total_us = (world_.now().count() - begin) * 1e6};
  }

 private:
  using Complex = std::complex<Real>;

  Complex* own() const { return reinterpret_cast<Complex*>(numbers_); }
  void take_input() { std::copy_n(ends_.input.data(), ends_.input.size(), own()); }

  // Of the transformed array, [y][x][z] here and [x][y][z] in a plan.
  template <class Act>
  void each_line(const Act& act) const {
    const Extents& size = ends_.output_box.size;
    for (std::int64_t y = 0; y < size[1]; ++y)
      for (std::int64_t x = 0; x < size[0]; ++x)
        act(own() + (y * size[0] + x) * size[2], ends_.output.data() + (x * size[1] + y) * size[2], size[2]);
  }

  World& world_;
  Ends<Real> ends_;
  typename F::Complex* numbers_;
  typename F::Plan forward_, backward_;
};

}  // namespace

template <class Real>
std::unique_ptr<Way> fftw_mpi_way(World& world, const Field& field, const Ends<Real>& ends, bool measured) {
  const auto ranks = static_cast<std::int64_t>(world.size());
  const bool in_slabs =
      ends.output_box.size[0] == field.extents[0] && ends.input_box.size[1] == field.extents[1];
  if (!in_slabs || field.extents[0] % ranks != 0 || field.extents[1] % ranks != 0) return nullptr;
  return std::make_unique<FftwMpiWay<Real>>(world, field, ends, measured);
}

}  // namespace tca::fft

#else

namespace tca::fft {

template <class Real>
std::unique_ptr<Way> fftw_mpi_way(World&, const Field&, const Ends<Real>&, bool) {
  return nullptr;
}

}  // namespace tca::fft

#endif

namespace tca::fft {

template std::unique_ptr<Way> fftw_mpi_way(World&, const Field&, const Ends<float>&, bool);
template std::unique_ptr<Way> fftw_mpi_way(World&, const Field&, const Ends<double>&, bool);

}  // namespace tca::fft
