// One rank's arrays, other than the pressure, and the sweep over a box of its cells.
#pragma once

#include <array>
#include <cstdint>
#include <vector>

#include "himeno/problem.hpp"
#include "tca/grid.hpp"

namespace tca::himeno {

using Share = std::array<Part, 3>;  // of the interior cells, per dimension

// [begin, end) in local cells; local cell 0 is the ghost.
struct Box {
  Extents begin;
  Extents end;

  bool empty() const { return begin[0] >= end[0] || begin[1] >= end[1] || begin[2] >= end[2]; }
};

// The coefficients are arrays, though the benchmark fills them with constants, because the traffic of reading
// them is part of what it measures.
class Kernel {
 public:
  Kernel(const Problem& problem, const Share& share);

  const Extents& extents() const { return extents_; }  // ghosts included
  std::int64_t cells() const { return extents_[0] * extents_[1] * extents_[2]; }
  std::size_t index(std::int64_t i, std::int64_t j, std::int64_t k) const {
    return static_cast<std::size_t>((i * extents_[1] + j) * extents_[2] + k);
  }

  // Initial pressure for every local cell. Ghosts that are fixed boundary cells keep it.
  void fill(float* p) const;

  // Writes the box's new pressure and returns its sum of squared changes.
  double sweep(const float* p, float* next, const Box& box);

 private:
  void fill_coefficients();

  Problem problem_;
  Extents first_;  // the whole array's cell that is this rank's local cell 0
  Extents extents_;
  std::array<std::vector<float>, 4> a_;
  std::array<std::vector<float>, 3> b_;
  std::array<std::vector<float>, 3> c_;
  std::vector<float> bnd_;
  std::vector<float> wrk1_;
  std::vector<float> change_;  // of one row
};

}  // namespace tca::himeno
