// A way of transforming a plan's arrays forward and backward. Several take turns on the same arrays when they are compared.
#pragma once

#include <memory>

#include "fft/pipeline.hpp"
#include "tca/world.hpp"

namespace tca::fft {

// What several transforms took on this rank, in microseconds.
struct Taken {
  double total_us = 0;
  double exchange_us = 0;  // of it; 0 where that is not known
};

class Way {
 public:
  virtual ~Way() = default;

  // Collective. They return when this rank's part is in place.
  virtual void forward() = 0;
  virtual void backward() = 0;
  // Collective. Transforms forward and backward so many times.
  virtual Taken run(int pairs) = 0;
};

// On hosts.
std::unique_ptr<Way> host_way(World& world, const Pipeline& forward, const Pipeline& backward);

}  // namespace tca::fft
