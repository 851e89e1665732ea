// The serial reference: the same iterations by one rank. It shares no code with OpenTCA or the solver, so
// that a mistake in either shows.
#pragma once

#include <cstdint>
#include <vector>

#include "himeno/problem.hpp"

namespace tca::himeno {

class Serial {
 public:
  explicit Serial(Problem problem);

  void iterate();

  std::int64_t iterations() const { return iterations_; }
  double residual() const { return residual_; }  // of the last iteration
  float pressure(std::int64_t i, std::int64_t j, std::int64_t k) const { return p_[index(i, j, k)]; }

 private:
  std::size_t index(std::int64_t i, std::int64_t j, std::int64_t k) const {
    return static_cast<std::size_t>((i * problem_.extents[1] + j) * problem_.extents[2] + k);
  }
  template <class CoefficientsAt>
  void sweep(const CoefficientsAt& coefficients_at);
  template <class CoefficientsAt>
  void sweep_row(const CoefficientsAt& coefficients_at, std::int64_t i, std::int64_t j, const float* pressure,
                 float* __restrict next, double* __restrict squares) const;

  Problem problem_;
  std::vector<float> p_;
  std::vector<float> next_;
  std::vector<double> squares_;  // of the changes, for each k
  std::int64_t iterations_ = 0;
  double residual_ = 0;
};

}  // namespace tca::himeno
