// A problem for Himeno that reveals errors which the benchmark's own uniform coefficients would hide.
#pragma once

#include "himeno/problem.hpp"

namespace tca::himeno {

// Every coefficient differs from cell to cell, so that a read from a wrong place shows. b is not zero, so
// that a stale edge shows.
inline Coefficients uneven(const Extents& cell) {
  const auto wave = [&](int phase) {
    return 0.01F * static_cast<float>((cell[0] * 7 + cell[1] * 5 + cell[2] * 3 + phase) % 11);
  };
  return {.a = {1 - wave(0), 1 - wave(1), 1 - wave(2), (1 + wave(3)) / 7},
          .b = {0.1F - wave(4), wave(5) - 0.05F, 0.1F + wave(6)},
          .c = {1 - wave(7), 1 - wave(8), 1 - wave(9)},
          .bnd = 1 - wave(10),
          .wrk1 = wave(2) - 0.05F};
}

}  // namespace tca::himeno
