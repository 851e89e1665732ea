// What a solver has come to on one rank, wherever its arrays live.
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

  // The present pressure of a cell of the whole array that this rank owns.
  virtual float at(const Extents& cell) const = 0;
};

}  // namespace tca::himeno
