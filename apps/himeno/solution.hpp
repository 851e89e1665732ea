// A solution as one rank holds it after some iterations, wherever the solver keeps its arrays.
#pragma once

#include <cstdint>

#include "himeno/partition.hpp"

namespace tca::himeno {

class Solution {
 public:
  virtual ~Solution() = default;

  virtual const Share& share() const = 0;
  virtual double residual() const = 0;  // of the last iteration, over all ranks
  virtual std::int64_t iterations() const = 0;

  // Returns the present pressure of a cell that this rank owns; `cell` counts in the whole array.
  virtual float at(const Extents& cell) const = 0;
};

}  // namespace tca::himeno
