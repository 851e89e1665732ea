// One rank's arrays other than the pressure, and the sweep over a box of its cells.
#pragma once

#include <array>
#include <cstdint>
#include <span>
#include <vector>

#include "himeno/partition.hpp"
#include "himeno/problem.hpp"

namespace tca::himeno {

// The coefficients are arrays although the benchmark fills them with constants, because the traffic of
// reading them is part of what it measures.
class Kernel {
 public:
  Kernel(const Problem& problem, const Share& share);

  const Extents& extents() const { return extents_; }  // ghosts included
  std::int64_t cells() const { return extents_[0] * extents_[1] * extents_[2]; }
  std::size_t index(std::int64_t i, std::int64_t j, std::int64_t k) const {
    return index_in(extents_, {i, j, k});
  }

  // Sets the initial pressure of every local cell. Ghosts that are fixed boundary cells keep it.
  void fill(float* p) const;

  // Returns the twelve coefficients (a, b, c, bnd and wrk1), each as an array over all local cells.
  std::array<std::span<const float>, 12> coefficients() const;

  // Writes the box's new pressure and returns the sum of its squared changes.
  double sweep(const float* p, float* next, const Box& box);

 private:
  void fill_coefficients();

  Problem problem_;
  // Cell of the whole array that is this rank's local cell 0.
  Extents first_;
  Extents extents_;
  std::array<std::vector<float>, 4> a_;
  std::array<std::vector<float>, 3> b_;
  std::array<std::vector<float>, 3> c_;
  std::vector<float> bnd_;
  std::vector<float> wrk1_;
  std::vector<float> change_;  // of one row
};

}  // namespace tca::himeno
