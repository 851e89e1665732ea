#include "cg/kernels.hpp"

namespace tca::cg {

namespace {

constexpr std::size_t lanes = 8;

// Returns the sums of what `terms(i)` returns for i from 0 to n - 1: an array, of which each element is
// summed.
template <std::size_t count, class Terms>
[[gnu::always_inline]] inline std::array<double, count> sums(std::size_t n, const Terms& terms) {
  std::array<std::array<double, lanes>, count> partial{};
  std::size_t i = 0;
  for (; i + lanes <= n; i += lanes) {
    for (std::size_t lane = 0; lane < lanes; ++lane) {
      const std::array<double, count> term = terms(i + lane);
      for (std::size_t k = 0; k < count; ++k) partial[k][lane] += term[k];
    }
  }
  for (; i < n; ++i) {
    const std::array<double, count> term = terms(i);
    for (std::size_t k = 0; k < count; ++k) partial[k][0] += term[k];
  }
  std::array<double, count> all{};
  for (std::size_t k = 0; k < count; ++k)
    for (const double one : partial[k]) all[k] += one;
  return all;
}

}  // namespace

void multiply(const Matrix& a, const double* x, double* y) {
  const std::int32_t* const column = a.column.data();
  const double* const value = a.value.data();
  const std::int64_t rows = a.rows();
  for (std::int64_t row = 0; row < rows; ++row) {
    std::int64_t k = a.row_begin[static_cast<std::size_t>(row)];
    const std::int64_t end = a.row_begin[static_cast<std::size_t>(row) + 1];
    double s0 = 0, s1 = 0, s2 = 0, s3 = 0;
    for (; k + 4 <= end; k += 4) {
      s0 += value[k] * x[column[k]];
      s1 += value[k + 1] * x[column[k + 1]];
      s2 += value[k + 2] * x[column[k + 2]];
      s3 += value[k + 3] * x[column[k + 3]];
    }
    for (; k < end; ++k) s0 += value[k] * x[column[k]];
    y[row] = (s0 + s1) + (s2 + s3);
  }
}

double dot(const double* a, const double* b, std::size_t n) {
  return sums<1>(n, [=](std::size_t i) { return std::array{a[i] * b[i]}; })[0];
}

double squared_distance(const double* a, const double* b, std::size_t n) {
  return sums<1>(n, [=](std::size_t i) {
    const double d = a[i] - b[i];
    return std::array{d * d};
  })[0];
}

std::array<double, 4> four_dots(const double* p, const double* q, const double* r, std::size_t n) {
  return sums<4>(n, [=](std::size_t i) {
    return std::array{p[i] * q[i], r[i] * q[i], q[i] * q[i], r[i] * r[i]};
  });
}

double advance(double alpha, const double* p, const double* q, double* __restrict z, double* __restrict r,
               std::size_t n) {
  return sums<1>(n, [=](std::size_t i) {
    z[i] += alpha * p[i];
    r[i] -= alpha * q[i];
    return std::array{r[i] * r[i]};
  })[0];
}

void turn(double beta, const double* r, double* __restrict p, std::size_t n) {
  for (std::size_t i = 0; i < n; ++i) p[i] = r[i] + beta * p[i];
}

void advance_and_turn(double alpha, double beta, const double* q, double* __restrict p, double* __restrict z,
                      double* __restrict r, std::size_t n) {
  for (std::size_t i = 0; i < n; ++i) {
    z[i] += alpha * p[i];
    r[i] -= alpha * q[i];
    p[i] = r[i] + beta * p[i];
  }
}

}  // namespace tca::cg
