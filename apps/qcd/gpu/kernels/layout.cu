// Converts fields between the orders and precisions in which they are stored; see docs/qcd.md, "Layout of
// fields".
#include <algorithm>

#include "qcd/gpu/kernels/kernels.hpp"
#include "qcd/gpu/solve.hpp"

namespace tca::qcd {
namespace {

constexpr Word fours = spinor_reals / 4;

// The place of a four in the host's order: site by site, and for each site all right-hand sides.
struct HostOrder {
  std::size_t at, site, four;
  Word rhs;

  TCA_DEVICE HostOrder(std::size_t i, Word all_rhs)
      : at(i), site(i / fours / all_rhs), four(i % fours), rhs(static_cast<Word>(i / fours % all_rhs)) {}
};

template <class T>
TCA_DEVICE T* of_rhs(T* field, Word sites, Word rhs) {
  return field + std::size_t{rhs} * sites * spinor_reals;
}

struct ToUnits {
  const Four<double>* from;
  double* to;
  __device__ void operator()(Word sites, const HostOrder& o) const {
    put_four(of_rhs(to, sites, o.rhs), sites, static_cast<Word>(o.site), static_cast<Word>(o.four),
             from[o.at]);
  }
};

struct FromUnits {
  const double* from;
  Four<double>* to;
  __device__ void operator()(Word sites, const HostOrder& o) const {
    to[o.at] =
        four_at(of_rhs(from, sites, o.rhs), sites, static_cast<Word>(o.site), static_cast<Word>(o.four));
  }
};

template <class From, class To>
struct Convert {
  const From* from;
  To* to;
  __device__ void operator()(Word sites, const HostOrder& o) const {
    const Word site = static_cast<Word>(o.site), four = static_cast<Word>(o.four);
    const Four<From> value = four_at(of_rhs(from, sites, o.rhs), sites, site, four);
    put_four(of_rhs(to, sites, o.rhs), sites, site, four, in_precision<To, From>(value));
  }
};

template <class Move>
__global__ void move_fours(Move move, Word sites, Word rhs, std::size_t count) {
  const std::size_t all = std::size_t{gridDim.x} * blockDim.x;
  for (std::size_t i = blockIdx.x * std::size_t{blockDim.x} + threadIdx.x; i < count; i += all)
    move(sites, HostOrder(i, rhs));
}

template <class Move>
cudaError_t launch(const Move& move, Word sites, Word rhs, cudaStream_t stream) {
  constexpr unsigned threads = 256, most_blocks = 4096;
  const std::size_t count = std::size_t{sites} * rhs * fours;
  const std::size_t blocks = std::min<std::size_t>((count + threads - 1) / threads, most_blocks);
  move_fours<<<static_cast<unsigned>(blocks), threads, 0, stream>>>(move, sites, rhs, count);
  return cudaGetLastError();
}

}  // namespace

cudaError_t launch_to_units(const double* from, double* to, Word sites, Word rhs, cudaStream_t stream) {
  return launch(ToUnits{reinterpret_cast<const Four<double>*>(from), to}, sites, rhs, stream);
}
cudaError_t launch_from_units(const double* from, double* to, Word sites, Word rhs, cudaStream_t stream) {
  return launch(FromUnits{from, reinterpret_cast<Four<double>*>(to)}, sites, rhs, stream);
}
cudaError_t launch_narrow(const double* from, float* to, Word sites, Word rhs, cudaStream_t stream) {
  return launch(Convert<double, float>{from, to}, sites, rhs, stream);
}
cudaError_t launch_widen(const float* from, double* to, Word sites, Word rhs, cudaStream_t stream) {
  return launch(Convert<float, double>{from, to}, sites, rhs, stream);
}

}  // namespace tca::qcd
