// The stencil in plain loops, cell by cell.
#include "himeno/serial.hpp"

#include <algorithm>
#include <numeric>
#include <utility>

namespace tca::himeno {

Serial::Serial(Problem problem) : problem_(std::move(problem)) {
  const Extents& n = problem_.extents;
  p_.resize(static_cast<std::size_t>(n[0] * n[1] * n[2]));
  for (std::int64_t i = 0; i < n[0]; ++i) {
    for (std::int64_t j = 0; j < n[1]; ++j) {
      for (std::int64_t k = 0; k < n[2]; ++k) p_[index(i, j, k)] = problem_.initial_pressure(i);
    }
  }
  next_ = p_;
  squares_.resize(static_cast<std::size_t>(n[2]));
}

void Serial::iterate() {
  if (problem_.coefficients) {
    sweep([this](std::int64_t i, std::int64_t j, std::int64_t k) {
      return problem_.coefficients({i, j, k});
    });
  } else {
    sweep([same = problem_.uniform](std::int64_t, std::int64_t, std::int64_t) { return same; });
  }
  p_.swap(next_);
  ++iterations_;
}

template <class CoefficientsAt>
void Serial::sweep(const CoefficientsAt& coefficients_at) {
  std::fill(squares_.begin(), squares_.end(), 0.0);
  for (std::int64_t i = 1; i < problem_.extents[0] - 1; ++i) {
    for (std::int64_t j = 1; j < problem_.extents[1] - 1; ++j) {
      sweep_row(coefficients_at, i, j, p_.data(), next_.data(), squares_.data());
    }
  }
  residual_ = std::accumulate(squares_.begin(), squares_.end(), 0.0);
}

// The squares are added in double precision, with one sum for each k, because single precision loses the
// residual.
template <class CoefficientsAt>
void Serial::sweep_row(const CoefficientsAt& coefficients_at, std::int64_t i, std::int64_t j,
                       const float* pressure, float* __restrict next, double* __restrict squares) const {
  const auto p = [&](std::int64_t x, std::int64_t y, std::int64_t z) { return pressure[index(x, y, z)]; };
  const std::int64_t end = problem_.extents[2] - 1;
  for (std::int64_t k = 1; k < end; ++k) {
    const Coefficients m = coefficients_at(i, j, k);
    const float s0 =
        m.a[0] * p(i + 1, j, k) + m.a[1] * p(i, j + 1, k) + m.a[2] * p(i, j, k + 1) +
        m.b[0] * (p(i + 1, j + 1, k) - p(i + 1, j - 1, k) - p(i - 1, j + 1, k) + p(i - 1, j - 1, k)) +
        m.b[1] * (p(i, j + 1, k + 1) - p(i, j - 1, k + 1) - p(i, j + 1, k - 1) + p(i, j - 1, k - 1)) +
        m.b[2] * (p(i + 1, j, k + 1) - p(i - 1, j, k + 1) - p(i + 1, j, k - 1) + p(i - 1, j, k - 1)) +
        m.c[0] * p(i - 1, j, k) + m.c[1] * p(i, j - 1, k) + m.c[2] * p(i, j, k - 1) + m.wrk1;
    const float ss = (s0 * m.a[3] - p(i, j, k)) * m.bnd;
    next[index(i, j, k)] = p(i, j, k) + omega * ss;
    squares[k] += static_cast<double>(ss) * static_cast<double>(ss);
  }
}

}  // namespace tca::himeno
