// The stencil as loops over rows that the compiler vectorises.
#include "himeno/kernel.hpp"

#include <algorithm>
#include <span>

namespace tca::himeno {

namespace {

// A row's coefficients, and the distances to its neighbour rows.
struct Row {
  std::array<const float*, 4> a;
  std::array<const float*, 3> b;
  std::array<const float*, 3> c;
  const float* bnd;
  const float* wrk1;
  std::ptrdiff_t i;
  std::ptrdiff_t j;
};

// `restrict` on the arrays that are stored is enough: it says that nothing that is read changes during the
// loop.
[[gnu::always_inline]] inline void update_row(const Row& row, const float* p, float* __restrict next,
                                              float* __restrict change, std::ptrdiff_t n) {
  const auto [a0, a1, a2, a3] = row.a;
  const auto [b0, b1, b2] = row.b;
  const auto [c0, c1, c2] = row.c;
  const float* const bnd = row.bnd;
  const float* const wrk1 = row.wrk1;
  const float* const up = p + row.i;
  const float* const down = p - row.i;
  const std::ptrdiff_t j = row.j;
  for (std::ptrdiff_t k = 0; k < n; ++k) {
    const float s0 = a0[k] * up[k] + a1[k] * p[k + j] + a2[k] * p[k + 1] +
                     b0[k] * (up[k + j] - up[k - j] - down[k + j] + down[k - j]) +
                     b1[k] * (p[k + j + 1] - p[k - j + 1] - p[k + j - 1] + p[k - j - 1]) +
                     b2[k] * (up[k + 1] - down[k + 1] - up[k - 1] + down[k - 1]) + c0[k] * down[k] +
                     c1[k] * p[k - j] + c2[k] * p[k - 1] + wrk1[k];
    const float ss = (s0 * a3[k] - p[k]) * bnd[k];
    change[k] = ss;
    next[k] = p[k] + omega * ss;
  }
}

// Single precision loses the residual from size M on, so the squares are added in double. Each row has a sum
// of its own, in eight lanes that the compiler may keep in registers whatever the decomposition.
[[gnu::always_inline]] inline double sum_of_squares(std::span<const float> values) {
  constexpr std::size_t lanes = 8;
  std::array<double, lanes> sums{};
  std::size_t at = 0;
  for (; at + lanes <= values.size(); at += lanes) {
    for (std::size_t lane = 0; lane < lanes; ++lane) {
      const double value = values[at + lane];
      sums[lane] += value * value;
    }
  }
  double sum = 0;
  for (; at < values.size(); ++at) sum += static_cast<double>(values[at]) * static_cast<double>(values[at]);
  for (const double lane : sums) sum += lane;
  return sum;
}

// Returns the sum of the squared changes.
[[gnu::always_inline]] inline double sweep_row(const Row& row, const float* p, float* next,
                                               std::span<float> change) {
  update_row(row, p, next, change.data(), static_cast<std::ptrdiff_t>(change.size()));
  return sum_of_squares(change);
}

double sweep_row_anywhere(const Row& row, const float* p, float* next, std::span<float> change) {
  return sweep_row(row, p, next, change);
}

// Used where the processor has AVX2, whose registers are wider than those of every x86-64. AVX2 does not
// include fused multiply-adds, so the answers are the same to the bit. On a virtual EPYC (Zen 3) a rank's
// part of S takes 156 us instead of 260.
#ifdef __x86_64__
[[gnu::target("avx2")]] double sweep_row_avx2(const Row& row, const float* p, float* next,
                                              std::span<float> change) {
  return sweep_row(row, p, next, change);
}
const auto sweep_any_row = __builtin_cpu_supports("avx2") ? sweep_row_avx2 : sweep_row_anywhere;
#else
const auto sweep_any_row = sweep_row_anywhere;
#endif

}  // namespace

Kernel::Kernel(const Problem& problem, const Share& share)
    : problem_(problem),
      first_{share[0].begin, share[1].begin, share[2].begin},
      extents_(extents_of(share)),
      change_(static_cast<std::size_t>(extents_[2])) {
  fill_coefficients();
}

void Kernel::fill(float* p) const {
  for (std::int64_t i = 0; i < extents_[0]; ++i) {
    const float value = problem_.initial_pressure(first_[0] + i);
    std::fill_n(p + index(i, 0, 0), extents_[1] * extents_[2], value);
  }
}

void Kernel::fill_coefficients() {
  const auto n = static_cast<std::size_t>(cells());
  const Coefficients& same = problem_.uniform;
  for (std::size_t m = 0; m < 4; ++m) a_[m].assign(n, same.a[m]);
  for (std::size_t m = 0; m < 3; ++m) b_[m].assign(n, same.b[m]);
  for (std::size_t m = 0; m < 3; ++m) c_[m].assign(n, same.c[m]);
  bnd_.assign(n, same.bnd);
  wrk1_.assign(n, same.wrk1);
  if (!problem_.coefficients) return;
  for (std::int64_t i = 0; i < extents_[0]; ++i) {
    for (std::int64_t j = 0; j < extents_[1]; ++j) {
      for (std::int64_t k = 0; k < extents_[2]; ++k) {
        const Coefficients own = problem_.coefficients({first_[0] + i, first_[1] + j, first_[2] + k});
        const std::size_t at = index(i, j, k);
        for (std::size_t m = 0; m < 4; ++m) a_[m][at] = own.a[m];
        for (std::size_t m = 0; m < 3; ++m) b_[m][at] = own.b[m];
        for (std::size_t m = 0; m < 3; ++m) c_[m][at] = own.c[m];
        bnd_[at] = own.bnd;
        wrk1_[at] = own.wrk1;
      }
    }
  }
}

std::array<std::span<const float>, 12> Kernel::coefficients() const {
  return {a_[0], a_[1], a_[2], a_[3], b_[0], b_[1], b_[2], c_[0], c_[1], c_[2], bnd_, wrk1_};
}

double Kernel::sweep(const float* p, float* next, const Box& box) {
  if (box.empty()) return 0;
  const std::int64_t n = box.end[2] - box.begin[2];
  const std::span<float> change(change_.data(), static_cast<std::size_t>(n));
  double sum = 0;
  for (std::int64_t i = box.begin[0]; i < box.end[0]; ++i) {
    for (std::int64_t j = box.begin[1]; j < box.end[1]; ++j) {
      const std::size_t at = index(i, j, box.begin[2]);
      const auto row = [at](const std::vector<float>& array) { return array.data() + at; };
      sum += sweep_any_row({{row(a_[0]), row(a_[1]), row(a_[2]), row(a_[3])},
                            {row(b_[0]), row(b_[1]), row(b_[2])},
                            {row(c_[0]), row(c_[1]), row(c_[2])},
                            row(bnd_),
                            row(wrk1_),
                            extents_[1] * extents_[2],
                            extents_[2]},
                           p + at, next + at, change);
    }
  }
  return sum;
}

}  // namespace tca::himeno
